// Documentation, sale and an owner's account as people use them: a real browser on the product as `npm start` runs it. Each
// suite makes the accounts and keys that it changes.

import './pages/docs.ts'
import './pages/selling.ts'
import './pages/owner.ts'
