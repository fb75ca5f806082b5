"""Datasets: collections, loaders, and the splits of their rows."""

from mlaut.data.api import Data, list_datasets
from mlaut.data.sources.references import DatasetReference, fetch, is_reference, parse_reference
from mlaut.data.splits.by_role import GroupFolds, LeakWarning, LeaveOneGroupOut, TimeSeries
from mlaut.data.splits.resampling import HoldOut, KFold, make_split, parse_scheme, split_of_pairs
from mlaut.data.splits.targets import encode_target, positions
from mlaut.data.tables.collections import (
    CollectionEntry,
    collection,
    collection_entries,
    list_collections,
    load_sklearn,
)
from mlaut.data.tables.folders import load_folder
from mlaut.data.tables.frames import from_frame, with_roles
from mlaut.downloads import cache_folder
from mlaut.files_io.tables.datasets import infer_task
from mlaut.files_io.tables.tables import read_table

__all__ = [
    "CollectionEntry",
    "Data",
    "DatasetReference",
    "GroupFolds",
    "HoldOut",
    "KFold",
    "LeakWarning",
    "LeaveOneGroupOut",
    "TimeSeries",
    "cache_folder",
    "collection",
    "collection_entries",
    "encode_target",
    "fetch",
    "from_frame",
    "infer_task",
    "is_reference",
    "list_collections",
    "list_datasets",
    "load_folder",
    "load_sklearn",
    "make_split",
    "parse_reference",
    "parse_scheme",
    "positions",
    "read_table",
    "split_of_pairs",
    "with_roles",
]
