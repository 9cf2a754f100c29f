"""headatlas beside other libraries: the same model, prompts and quantity, each in an environment of its own."""
