// The console of operators, two journeys and the live page in a real browser, on the product as `npm start` runs it. The last test uses up
// the visitor budget.

import { useProduct } from '../browser/product.ts'
import './pages/console.ts'
import './pages/journeys.ts'
import './pages/live-page.ts'

useProduct()
