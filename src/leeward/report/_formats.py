# SPDX-License-Identifier: Apache-2.0
"""What catalogues and registries read of a release, written when it is asked for; all of it is in the statement already.

- ``croissant.json``: schema.org's ``Dataset`` with the fields of ``answers.parquet`` in the vocabulary Croissant 1.0 of
  MLCommons, and one line of the W3C Data Privacy Vocabulary: it is protected by differential privacy.
- ``opendp-registry.yaml``: a draft of an entry in OpenDP's registry of deployments. Who publishes, for what, and where is
  not known here: these texts begin with TODO. (It is JSON, so written that it is YAML.)
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from leeward._statement import UNPROTECTED, Heading, UnlistedStatement
from leeward.ledger._records import with_delta
from leeward.report._words import Readable

_NAMESPACES = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "dct": "http://purl.org/dc/terms/",
    "dpv": "https://w3id.org/dpv#",
}
_TERMS = ("extract", "field", "fileObject", "fileProperty", "format", "recordSet", "references", "source")


def croissant(releases: Sequence[Readable], answers: pa.Table, path: Path) -> None:
    """Write the description of a folder's answers."""
    first, file = releases[0].statement, path.with_name("answers.parquet")
    context: dict[str, Any] = {**_NAMESPACES, **{term: f"cr:{term}" for term in _TERMS}}
    context |= {"column": "cr:column", "conformsTo": "dct:conformsTo"}
    context["dataType"] = {"@id": "cr:dataType", "@type": "@vocab"}
    described = {
        "@context": context,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": f"{first.dataset}, version {first.version}",
        "description": " ".join(_sentences(releases)),
        "datePublished": first.created,
        "dpv:hasTechnicalMeasure": {"@id": "dpv:DifferentialPrivacy"},
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": "answers.parquet",
                "name": "answers.parquet",
                "contentUrl": "answers.parquet",
                "encodingFormat": "application/x-parquet",
                "sha256": hashlib.sha256(file.read_bytes()).hexdigest(),
            }
        ],
        "recordSet": [
            {
                "@type": "cr:RecordSet",
                "@id": "answers",
                "name": "answers",
                "field": [_field(column) for column in answers.schema],
            }
        ],
    }
    path.write_text(json.dumps(described, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _field(column: pa.Field) -> dict[str, Any]:
    return {
        "@type": "cr:Field",
        "@id": f"answers/{column.name}",
        "name": column.name,
        "dataType": next((kind for fits, kind in _KINDS if fits(column.type)), "sc:Text"),
        "source": {"fileObject": {"@id": "answers.parquet"}, "extract": {"column": column.name}},
    }


_KINDS: Final[Sequence[tuple[Callable[[pa.DataType], bool], str]]] = (
    (pa.types.is_boolean, "sc:Boolean"),
    (pa.types.is_integer, "sc:Integer"),
    (pa.types.is_floating, "sc:Float"),
)


def registry(releases: Sequence[Readable], answers: pa.Table, path: Path) -> None:
    """Write the draft of an entry; arguments as for `croissant`."""
    first, many = releases[0].statement, len(releases)
    notion = first.notion
    total = _total(releases)
    delta = first.promised_delta
    pure = notion.name in _PURE
    parameters = {} if total is None else {"epsilon": _no_less(total)}
    if delta:
        parameters["delta"] = _no_less(delta * many)
    described = {
        "url_slug": "".join(sign if sign.isalnum() else "_" for sign in first.dataset.casefold()),
        "status": "Draft",
        "tier": 3,
        "deployment": {
            "basic": {
                "name": first.dataset,
                "data_curators": ["TODO: who publishes it"],
                "intended_use": "TODO: what it is meant for",
                "data_product_type": "Summary statistics",
                "data_product_region": "TODO: which region it is about",
                "description": " ".join(_sentences(releases)),
                "publication_date": first.created,
            },
            "dp_variant": {
                "variant_name": "Custom" if not pure else "Approximate DP" if delta else "Pure DP",
                "unprotected_quantities": "; ".join(_unprotected(first)) or "none",
            },
            "privacy_loss": {
                "privacy_unit": notion.unit,
                "privacy_unit_details": f"{notion.definition}. Protected: {notion.protects}. What stays possible:"
                f" {notion.alternative}.",
                "privacy_parameters": parameters,
                "privacy_parameters_details": _exactly(releases),
            },
            "deployment_model": {
                "model_name": "Central",
                "release_type": "One release" if many == 1 and first.monitor is None else "Many releases",
                "data_source_type": "Static",
                "access_type": "Non-interactive",
            },
            "accounting": {
                "composition": "Prices of releases about the same people add up, exactly, in a ledger with a fixed cap.",
            },
            "implementation": {
                "mechanisms": f"{first.mechanism.text.rstrip('.')}. Leeward {first.leeward}: integers on public"
                " grids, exact samplers, no floating-point noise.",
            },
            "administrative": {"registry_authors": ["TODO: who wrote this entry"]},
        },
    }
    path.write_text(_yaml(described), "utf-8")


def _yaml(described: Mapping[str, Any]) -> str:
    """Return JSON that every reader of YAML takes for the same: of version 1.1 too, where 1e-05 is a text.

    What YAML has as no character, or as the end of a line, is written as an escape. No text holds a line's end, so a number
    that ends a line is in none.
    """
    text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
    text = re.sub(r'(?m)^( *"\w+": \d+)(e[-+]\d+,?)$', r"\1.0\2", text)
    return _NO_YAML.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


_NO_YAML: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


_PURE = {"dp", "bounded-dp", "add-remove-replace-dp"}
"""Notions whose common name says all; any other is told by its definition."""


def _unprotected(first: Heading) -> list[str]:
    """Return what a release gives away beside its answers: groups that nobody has listed are a part of these."""
    found = [first.notion.does_not_protect] if first.notion.does_not_protect else []
    found += [assumed for assumed in first.assumptions if assumed.endswith(UNPROTECTED)]
    return found if isinstance(first, UnlistedStatement) else [*found, "the keys of the answers are public"]


def _no_less(exactly: Fraction) -> float:
    """Return the least float that is not below: what is promised is never written as more than it is."""
    near = float(exactly)
    return near if near >= exactly else math.nextafter(near, math.inf)


def _exactly(releases: Sequence[Readable]) -> str:
    first, many = releases[0].statement, len(releases)
    price = with_delta(first.price, first.promised_delta)
    if first.monitor is not None:
        return f"{first.monitor.text}. The entries of its windows say the same ε, which is taken once"
    each = f"ε = {first.notion.epsilon} of {first.notion.name}, a price of {price}"
    return each if many == 1 else f"{each}, for each of {many} windows; they add up"


def _total(releases: Sequence[Readable]) -> Fraction | None:
    """Return what all cost together, in ε of their notion; None where that is no fraction."""
    try:
        return sum((Fraction(one.statement.price) for one in releases), Fraction(0))
    except ValueError:
        return None


def _sentences(releases: Sequence[Readable]) -> list[str]:
    first = releases[0].statement
    more = [] if len(releases) == 1 else [f"And so for {len(releases)} windows, one release each."]
    promise = f"{first.notion.name} at {first.strength} for each {first.notion.unit}"
    return [
        f"{first.query.text.rstrip('.?')}.",
        *more,
        f"Noisy: protected by {promise}. The statement is release.json.",
    ]


FORMATS: Final[Mapping[str, tuple[str, Callable[[Sequence[Readable], pa.Table, Path], None]]]] = {
    "croissant": ("croissant.json", croissant),
    "opendp-registry": ("opendp-registry.yaml", registry),
}
"""The formats by name: the file of each, and what writes it."""
