class RequestOutputKind:
    FINAL_ONLY = 2
