// The console of operators and the live page: a real browser on the product as `npm start` runs it. The last test takes all
// that visitors may spend.

import './pages/console.ts'
import './pages/live-page.ts'
