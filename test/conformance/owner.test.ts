// The pages of an account’s owner, and every page on bad days, in a real browser, on the product as `npm start` runs it. Each
// suite creates the accounts and keys that it changes.

import { useProduct } from '../browser/product.ts'
import './pages/owner.ts'
import './pages/bad-days.ts'

useProduct()
