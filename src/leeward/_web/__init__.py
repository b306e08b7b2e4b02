# SPDX-License-Identifier: Apache-2.0
"""What the desk and the service share: a guard around an application, and the port of this machine that it is at.

It needs the extra ``desk``.
"""
