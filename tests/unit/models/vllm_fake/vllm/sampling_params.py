class RequestOutputKind:
    FINAL_ONLY = 2


class StructuredOutputsParams:
    def __init__(self, json: str) -> None:
        self.json = json
