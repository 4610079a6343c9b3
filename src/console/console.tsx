// The page /console: sign-in, then the owner's page or the operator's pages.

import { render } from 'preact'
import { linkToken } from './join.dom.ts'
import { JoinPage } from './join.tsx'
import { OperatorPages } from './operator/operator-pages.tsx'
import { OwnerPage } from './owner/owner-page.tsx'
import { SignIn } from './sign-in.tsx'
import { look, visitor } from './visit.dom.ts'

function Console() {
  if (linkToken.value !== null) return <JoinPage token={linkToken.value} key={linkToken.value} />
  const who = visitor.value
  if (who === 'unknown') return <main id="main" aria-busy="true" />
  if (who === null) return <SignIn />
  return who.role === 'owner' ? <OwnerPage who={who} /> : <OperatorPages who={who} />
}

void look()
render(<Console />, document.getElementById('app')!)
