"use strict";
// Nothing of the desk needs this: it only saves reloading by hand while work is going on.
