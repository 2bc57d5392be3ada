#pragma once
/* Only CTunnel includes lwIP's headers; this module brings it the library's flags. */
