"""The steps of the pipeline `brief`."""


def count(step):
    return {"words": len(step.text.split())}


def first(step):
    return {"sentence": step.text.strip().split(". ")[0].rstrip(".")}


def page(step):
    words, sentence = step.artifacts["count.json"]["words"], step.artifacts["first.json"]["sentence"]
    return f"# {sentence}\n\n{words} words.\n"
