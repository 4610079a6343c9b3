// The page /console: sign-in, then the owner's page or the operator's pages.

import { render } from 'preact'
import { linkToken } from './join.dom.ts'
import { JoinPage } from './join.tsx'
import { Later } from './later.tsx'
import { SignIn } from './sign-in.tsx'
import { look, visitor } from './visit.dom.ts'

const ownerPage = async () => (await import('./owner/owner-page.tsx')).OwnerPage
const operatorPages = async () => (await import('./operator/operator-pages.tsx')).OperatorPages

function Console() {
  if (linkToken.value !== null) return <JoinPage token={linkToken.value} key={linkToken.value} />
  const who = visitor.value
  if (who === 'unknown') return <main id="main" aria-busy="true" />
  if (who === null) return <SignIn />
  // Nothing of one account's page is left on another's.
  return who.role === 'owner' ? (
    <Later key={`owner ${who.account}`} load={ownerPage} props={{ who }} />
  ) : (
    <Later key="operator" load={operatorPages} props={{ who }} />
  )
}

void look()
render(<Console />, document.getElementById('app')!)
