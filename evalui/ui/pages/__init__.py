"""The pages that are made of Gradio's components, each in a module or package of its own."""
