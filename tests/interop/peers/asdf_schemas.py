"""Verdicts of Python asdf's schema validation: a JSON request on each line of stdin, a JSON answer on each line of stdout.

    .venv/bin/python -B tests/interop/peers/asdf_schemas.py

| `do` | fields | answer |
|---|---|---|
| `judge` | `schemas` (the folder of schemas that the crate embeds), `seed`, `mutants` (of each example) | `cases`: `{"text", "standard", "verdict"}`, the examples of the standard's schemas and random changes of them; the verdict is `valid`, `invalid`, or what was raised |
| `suite` | | `cases`: `{"schema", "data", "valid", "name"}`, the draft-04 suite that asdf's package has, as YAML; `remotes`: `[URI, schema]` |
"""

import io
import json
import os
import random
import sys
import warnings
from pathlib import Path

os.environ["ASDF_UNSTABLE_CORE_SCHEMAS"] = "1"
warnings.simplefilter("ignore")

import asdf
import asdf.exceptions
import yaml
from asdf import schema, yamlutil
from asdf.extension import Extension, TagDefinition

HEAD = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n"
STANDARD = "tag:yaml.org,2002:"

SCALARS = [
    ("int", "5"), ("int", "-3"), ("float", "2.5"), ("float", ".nan"), ("null", "null"), ("bool", "true"), ("str", "hello"),
    ("str", ""), ("timestamp", "2001-12-14"), ("str", "big"), ("str", "float64"), ("int", "1"), ("int", "0"),
]  # fmt: skip
KEYS = ["extra", "name", "shape", "source", "unit", "value", "datatype", "mask", "offset", "strides"]
TEXTS = ["x", "", "é", "m", "1+2j", "nan", "1e5", "2000-01-01", "B1950.0"]


def know_all_tags(folder):
    """Makes every tag of every manifest known, whatever the version of the standard."""
    tags = {}
    for path in sorted(folder.glob("*table/manifests/**/*.yaml")):
        for it in yaml.safe_load(path.read_text())["tags"]:
            uris = it["schema_uri"]
            tags[it["tag_uri"]] = uris if isinstance(uris, list) else [uris]

    class All(Extension):
        extension_uri = "asdf://tests/all"

        @property
        def tags(self):
            return [TagDefinition(tag, schema_uris=uris) for tag, uris in tags.items()]

    resources = {}
    for path in sorted(folder.glob("unstable/schemas/**/*.yaml")):
        data = path.read_bytes()
        resources[yaml.safe_load(data)["id"]] = data
    config = asdf.get_config()
    config.add_extension(All())
    config.add_resource_mapping(resources)


def examples(folder):
    class Loader(yaml.SafeLoader):
        pass

    Loader.add_multi_constructor("", lambda loader, suffix, node: None)
    for path in sorted(folder.glob("stable/**/*.yaml")):
        for example in yaml.load(path.read_text(), Loader).get("examples") or []:
            said = [it for it in example if isinstance(it, str) and it.startswith("asdf-standard-")]
            yield said[0].removeprefix("asdf-standard-") if said else "1.6.0", example[-1]


class Mutator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def scalar(self):
        tag, text = self.random.choice(SCALARS)
        return yaml.ScalarNode(STANDARD + tag, text, style="'" if tag == "str" else None)

    def key(self, text):
        return yaml.ScalarNode(STANDARD + "str", text)

    def nodes(self, node, found):
        if node in found:
            return found
        found.append(node)
        if isinstance(node, yaml.MappingNode):
            for _, value in node.value:
                self.nodes(value, found)
        elif isinstance(node, yaml.SequenceNode):
            for item in node.value:
                self.nodes(item, found)
        return found

    def change(self, root):
        for _ in range(self.random.choice([1, 1, 2])):
            node = self.random.choice(self.nodes(root, []))
            what = self.random.randrange(5)
            if isinstance(node, yaml.MappingNode) and node.value:
                self.change_mapping(node, what)
            elif isinstance(node, yaml.SequenceNode):
                self.change_sequence(node, what)
            elif isinstance(node, yaml.ScalarNode) and node.tag.startswith(STANDARD):
                new = self.scalar()
                node.tag, node.value, node.style = new.tag, new.value, new.style
            elif isinstance(node, yaml.ScalarNode):
                node.value = self.random.choice(TEXTS)

    def change_mapping(self, node, what):
        at = self.random.randrange(len(node.value))
        name = node.value[at][0]
        if what == 0:
            del node.value[at]
        elif what == 1:
            node.value[at] = (name, self.scalar())
        elif what == 2:
            node.value.append((self.key(self.random.choice(KEYS)), self.scalar()))
        elif what == 3:
            node.value[at] = (name, yaml.SequenceNode(STANDARD + "seq", [self.scalar(), self.scalar()]))
        else:
            node.value[at] = (name, yaml.MappingNode(STANDARD + "map", [(self.key("name"), self.scalar())]))

    def change_sequence(self, node, what):
        if what == 0 and node.value:
            del node.value[self.random.randrange(len(node.value))]
        elif what in (1, 2) and node.value:
            node.value[self.random.randrange(len(node.value))] = self.scalar()
        elif what == 3:
            node.value.append(self.scalar())
        else:
            node.value = []


def verdict(text, standard):
    try:
        context = asdf.AsdfFile(version=standard)
        tree = yamlutil.load_tree(io.BytesIO(text.encode()))
        schema.validate(tree, ctx=context, reading=True)
    except asdf.exceptions.ValidationError:
        return "invalid"
    except Exception as error:
        return f"{type(error).__name__}: {error}"[:200]
    return "valid"


def do_judge(request):
    folder = Path(request["schemas"])
    know_all_tags(folder)
    mutator = Mutator(request["seed"])
    cases = []

    def add(text, standard):
        cases.append({"text": text, "standard": standard, "verdict": verdict(text, standard)})

    for standard, example in examples(folder):
        add(HEAD + example.rstrip("\n") + "\n...\n", standard)
        for _ in range(request["mutants"]):
            root = yaml.compose(HEAD + example, Loader=yaml.SafeLoader)
            mutator.change(root)
            try:
                text = yaml.serialize(
                    root, Dumper=yaml.SafeDumper, version=(1, 1), tags={"!": "tag:stsci.edu:asdf/"},
                    explicit_start=True, explicit_end=True, allow_unicode=True,
                )  # fmt: skip
            except Exception:
                continue
            add(text, standard)
    return {"cases": cases}


class Dumper(yaml.SafeDumper):
    def ignore_aliases(self, data):
        return True


def written(data):
    text = yaml.dump(data, Dumper=Dumper, allow_unicode=True, explicit_end=True)
    return "%YAML 1.1\n---\n" + text


def do_suite(request):
    folder = Path(asdf.__file__).parent / "_jsonschema/json"
    remotes = []
    for path in sorted((folder / "remotes").rglob("*.json")):
        name = path.relative_to(folder / "remotes").as_posix()
        if not name.startswith("draft"):
            remotes.append([f"http://localhost:1234/{name}", written(json.loads(path.read_text()))])
    cases = []
    for path in sorted((folder / "tests/draft4").glob("*.json")):
        for group in json.loads(path.read_text()):
            text = written(group["schema"])
            for it in group["tests"]:
                name = f"{path.name}: {group['description']}: {it['description']}"
                cases.append({"schema": text, "data": written(it["data"]), "valid": it["valid"], "name": name})
    return {"cases": cases, "remotes": remotes}


def main():
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = {"ok": True} | globals()["do_" + request["do"]](request)
        except Exception as error:
            answer = {"ok": False, "error": f"{type(error).__name__}: {error}"[:2000]}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
