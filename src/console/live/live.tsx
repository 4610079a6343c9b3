// The page /live.

import { render } from 'preact'

render(<main id="main" />, document.getElementById('app')!)
