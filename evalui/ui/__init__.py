"""The screen: the only place that knows Gradio."""
