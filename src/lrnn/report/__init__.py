"""The report: one page that shows what a model has learnt, and that it is what it claims to be."""

from lrnn.report.page import sections_of, write_report
from lrnn.report.subject import Findings, Subject

__all__ = ["Findings", "Subject", "sections_of", "write_report"]
