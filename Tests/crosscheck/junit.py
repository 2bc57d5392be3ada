"""Holds JUnit reports against what build servers accept.

usage: junit.py FILE...

Each file is read by expat, which takes nothing that XML 1.0 forbids, and then held against the grammar that Jenkins' xUnit
plugin publishes as junit-10.xsd. The grammar is written down here from its facts (which elements may stand in which, which
attributes they may and must have, what a time looks like); nothing of that file is copied. Beyond it: class and name
together are unique, and the counts are those of the elements.
"""

import re
import sys
import xml.etree.ElementTree as tree

TIME = re.compile(r"(([0-9]{0,3},)*[0-9]{3}|[0-9]{0,3})*(\.[0-9]*)?\Z")
TEXT = re.compile(r"(?s).*\Z")
RERUN = ({"stackTrace": 1, "system-out": 1, "system-err": 1}, {"message": TEXT, "type": TEXT}, {"type"}, True)
PLAIN = ({}, {}, set(), True)
VERDICT = ({}, {"type": TEXT, "message": TEXT}, set(), True)
MANY = float("inf")

# element: children with how often at most, attributes with their form, those that must be there, whether text may stand in it
GRAMMAR = {
    "testsuites": ({"testsuite": MANY},
                   {"name": TEXT, "time": TIME, "tests": TEXT, "failures": TEXT, "errors": TEXT}, set(), False),
    "testsuite": ({"testsuite": MANY, "properties": MANY, "testcase": MANY, "system-out": MANY, "system-err": MANY},
                  {"name": TEXT, "tests": TEXT, "failures": TEXT, "errors": TEXT, "group": TEXT, "time": TIME,
                   "skipped": TEXT, "timestamp": TEXT, "hostname": TEXT, "id": TEXT, "package": TEXT, "file": TEXT,
                   "log": TEXT, "url": TEXT}, {"name", "tests", "failures", "errors"}, False),
    "testcase": ({name: MANY for name in ("skipped", "error", "failure", "rerunFailure", "rerunError", "flakyFailure",
                                          "flakyError", "system-out", "system-err")},
                 {"name": TEXT, "time": TEXT, "classname": TEXT, "group": TEXT}, {"name"}, False),
    "properties": ({"property": MANY}, {}, set(), False),
    "property": ({}, {"name": TEXT, "value": TEXT}, {"name", "value"}, False),
    "failure": VERDICT, "error": VERDICT, "skipped": VERDICT,
    "rerunFailure": RERUN, "rerunError": RERUN, "flakyFailure": RERUN, "flakyError": RERUN,
    "system-out": PLAIN, "system-err": PLAIN, "stackTrace": PLAIN,
}


def problems(element, path=""):
    path = f"{path}/{element.tag}"
    if element.tag not in GRAMMAR:
        yield f"{path}: no such element"
        return
    children, attributes, needed, has_text = GRAMMAR[element.tag]
    for name, value in element.attrib.items():
        if name not in attributes:
            yield f"{path}: no such attribute: {name}"
        elif not attributes[name].match(value):
            yield f"{path}: {name} cannot be {value!r}"
    for name in sorted(needed - set(element.attrib)):
        yield f"{path}: {name} is missing"
    for child in element:
        if child.tag not in children:
            yield f"{path}: {child.tag} cannot stand here"
        elif sum(1 for other in element if other.tag == child.tag) > children[child.tag]:
            yield f"{path}: {child.tag} stands here too often"
        else:
            yield from problems(child, path)
    texts = [element.text] + [child.tail for child in element]
    if not has_text and any(text and text.strip() for text in texts):
        yield f"{path}: text cannot stand here"


def counts(suite, path):
    cases = list(suite.iter("testcase"))
    for attribute, tag in (("tests", None), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        if attribute not in suite.attrib:
            continue
        count = sum(1 for case in cases if tag is None or case.find(tag) is not None)
        if suite.get(attribute) != str(count):
            yield f"{path}: {attribute} is {suite.get(attribute)}, and there are {count}"


def check(path):
    """What is wrong with a report; also how many cases it has."""
    try:
        root = tree.parse(path).getroot()
    except tree.ParseError as error:
        return [f"no XML: {error}"], 0
    found = [f"{root.tag} is no root"] if root.tag not in ("testsuites", "testsuite") else []
    found += problems(root)
    for suite in [root] + list(root.iter("testsuite")):
        found += counts(suite, suite.get("name", suite.tag))
    names = [(case.get("classname"), case.get("name")) for case in root.iter("testcase")]
    found += [f"{name} stands there twice" for name in sorted(set(names)) if names.count(name) > 1]
    return found, len(names)


def main(paths):
    bad = False
    for path in paths:
        found, cases = check(path)
        for problem in found:
            print(f"{path}: {problem}", file=sys.stderr)
        bad = bad or bool(found)
        print(f"{path}: {cases} cases, {len(found)} problems")
    sys.exit(1 if bad or not paths else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
