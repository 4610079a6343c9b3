// The script /site.js of every page, which its head loads before the first paint.

import './theme.dom.ts'
import './legal-links.dom.ts'
