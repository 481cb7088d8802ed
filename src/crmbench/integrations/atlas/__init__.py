"""Atlas (PyPI ``arc-atlas``): a student, a teacher, and learning kept between conversations.

All that touches the library is here; it needs the extra ``atlas``, in an environment of its own.
"""
