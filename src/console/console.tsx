// The page /console: sign-in, then the owner page or the operator pages.

import { useSignal } from '@preact/signals'
import { type ComponentType, render } from 'preact'
import { useEffect } from 'preact/hooks'
import { refreshVisitor, visitor } from './session.dom.ts'
import { ConfirmLinkPage, SignInPage } from './sign-in.tsx'
import { linkToken } from './sign-up.dom.ts'
import { CONSOLE } from './strings.ts'
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
  const state = loaded.value
  if (state === null) return <main id="main" aria-busy="true" />
  if (state !== 'failed') return <state.Part {...props} />
  return (
    <main id="main">
      <p class="note trouble" role="alert">
        {CONSOLE.loadFailed}
        <Button text={CONSOLE.reload} onClick={() => location.reload()} />
      </p>
    </main>
  )
}

const ownerPage = async () => (await import('./owner/owner-page.tsx')).OwnerPage
const operatorPages = async () => (await import('./operator/operator-pages.tsx')).OperatorPages

function Console() {
  if (linkToken.value !== null) return <ConfirmLinkPage token={linkToken.value} key={linkToken.value} />
  const current = visitor.value
  if (current === 'unknown') return <main id="main" aria-busy="true" />
  if (current === null) return <SignInPage />
  // The key resets all state when another account signs in.
  return current.role === 'owner' ? (
    <Lazy key={`owner ${current.account}`} load={ownerPage} props={{ visitor: current }} />
  ) : (
    <Lazy key="operator" load={operatorPages} props={{ visitor: current }} />
  )
}

void refreshVisitor()
render(<Console />, document.getElementById('app') ?? document.body)
