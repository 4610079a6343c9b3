// The page /console: sign-in, then the owner's page or the operator's pages.

import { useSignal } from '@preact/signals'
import { type ComponentType, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { refreshVisitor, visitor } from './session.dom.ts'
import { ConfirmLinkPage, SignInPage } from './sign-in.tsx'
import { linkToken } from './sign-up.dom.ts'
import { Button } from './ui/frame.tsx'

interface LazyProps<Props extends object> {
  readonly load: () => Promise<ComponentType<Props>>
  readonly props: Props
}

export function Lazy<Props extends object>({ load, props }: LazyProps<Props>) {
  const loaded = useSignal<{ readonly Part: ComponentType<Props> } | 'failed' | null>(null)
  useEffect(() => {
    load().then(
      (Part) => {
        loaded.value = { Part }
      },
      () => {
        loaded.value = 'failed'
      },
    )
  }, [load])
  const found = loaded.value
  if (found === null) return <main id="main" aria-busy="true" />
  if (found !== 'failed') return <found.Part {...props} />
  return (
    <main id="main">
      <p class="note trouble" role="alert">
        A part of this page could not be loaded: the gateway may have been renewed meanwhile.{' '}
        <Button text="Load the page again" onClick={() => location.reload()} />
      </p>
    </main>
  )
}

const ownerPage = async () => (await import('./owner/owner-page.tsx')).OwnerPage
const operatorPages = async () => (await import('./operator/operator-pages.tsx')).OperatorPages

function Console() {
  if (linkToken.value !== null) return <ConfirmLinkPage token={linkToken.value} key={linkToken.value} />
  const who = visitor.value
  if (who === 'unknown') return <main id="main" aria-busy="true" />
  if (who === null) return <SignInPage />
  // Nothing of one account's page is left on another's.
  return who.role === 'owner' ? (
    <Lazy key={`owner ${who.account}`} load={ownerPage} props={{ who }} />
  ) : (
    <Lazy key="operator" load={operatorPages} props={{ who }} />
  )
}

void refreshVisitor()
render(<Console />, document.getElementById('app') ?? document.body)
