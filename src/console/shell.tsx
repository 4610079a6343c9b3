// Page frame: navigation, current user, sign-out.

import type { ComponentChildren } from 'preact'
import type { SessionUser } from '../accounts/sessions/session.ts'
import { navigate, urlWith } from './address.dom.ts'
import { signOut } from './session.dom.ts'
import { CONSOLE } from './strings.ts'
import { Button, Header } from './ui/frame.tsx'

/** A link within the console, followed without reloading. Modifier keys work as in any link. */
export function Link({ to, children, isHere }: { to: string; children: ComponentChildren; isHere?: boolean }) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a href={to} onClick={follow} aria-current={isHere ? 'page' : undefined}>
      {children}
    </a>
  )
}

interface ShellProps {
  readonly visitor: SessionUser
  /** The name of the page in the URL, and its title. */
  readonly pages: readonly (readonly [name: string, title: string])[]
  readonly current: string
  readonly children: ComponentChildren
}

export function Shell({ visitor, pages, current, children }: ShellProps) {
  const name = visitor.role === 'owner' ? visitor.account : `${visitor.name} · ${visitor.staff_role}`
  const navigation = pages.map(([page, title]) => (
    <Link key={page} to={urlWith({ page }, new URLSearchParams())} isHere={page === current}>
      {title}
    </Link>
  ))
  return (
    <>
      <Header home="/console" navigation={navigation} links={['/live', '/docs']}>
        <span title={visitor.role}>{name}</span>
        <Button text={CONSOLE.signOut} class="plain" onClick={signOut} />
      </Header>
      <main id="main">{children}</main>
    </>
  )
}
