// The documentation and selling in a real browser, on the product as `npm start` runs it. Each suite creates the accounts
// and keys that it changes.

import { useProduct } from '../browser/product.ts'
import './pages/docs.ts'
import './pages/selling.ts'

useProduct()
