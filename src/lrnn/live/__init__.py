"""A page in which trained networks run spike by spike before one's eyes.

It is one file: the exact simulation in JavaScript (`script/`), the networks' weights, and as many
rows of the data as were asked for. Nothing is fetched, and nothing is sent.
"""

from lrnn.live.packing import Scene, rows_of
from lrnn.live.page import LivePage, live_page, page_of

__all__ = ["LivePage", "Scene", "live_page", "page_of", "rows_of"]
