// The page /console: sign-in, then the owner page or the operator pages.

import { render } from 'preact'
import { params } from './address.dom.ts'
import { linkToken } from './link-token.dom.ts'
import { refreshVisitor, visitor } from './session.dom.ts'
import { Lazy } from './ui/lazy.tsx'

const signInPage = async () => (await import('./sign-in.tsx')).SignInPage
const linkPage = async () => (await import('./join.tsx')).ConfirmLinkPage
const ownerPage = async () => (await import('./owner/owner-page.tsx')).OwnerPage
const orderInvoice = async () => (await import('./owner/order-invoice.tsx')).OrderInvoice
const operatorPages = async () => (await import('./operator/operator-pages.tsx')).OperatorPages

const LOADING = <main id="main" aria-busy="true" />

function Console() {
  const token = linkToken.value
  if (token !== null) return <Lazy key={token} load={linkPage} props={{ token }} fallback={LOADING} />
  const current = visitor.value
  if (current === 'unknown') return LOADING
  if (current === null) return <Lazy key="sign in" load={signInPage} props={{}} fallback={LOADING} />
  const invoice = params.value.get('invoice')
  if (invoice !== null && current.role === 'owner')
    return <Lazy key={`invoice ${invoice}`} load={orderInvoice} props={{ number: invoice }} fallback={LOADING} />
  // The key resets all state when another account signs in.
  return current.role === 'owner' ? (
    <Lazy key={`owner ${current.account}`} load={ownerPage} props={{ visitor: current }} fallback={LOADING} />
  ) : (
    <Lazy key="operator" load={operatorPages} props={{ visitor: current }} fallback={LOADING} />
  )
}

void refreshVisitor()
render(<Console />, document.getElementById('app') ?? document.body)
