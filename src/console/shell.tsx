// What is around every page of the console: where one can go, who is signed in, the way out.

import type { ComponentChildren } from 'preact'
import type { Visitor } from '../accounts/sessions/session.ts'
import { addressWith, go } from './address.dom.ts'
import { Button, Header } from './ui/frame.tsx'
import { signOut } from './visit.dom.ts'

/** A link within the console; with a key held it opens where links open. */
export function Link({ to, children, isHere }: { to: string; children: ComponentChildren; isHere?: boolean }) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    go(to)
  }
  return (
    <a href={to} onClick={follow} aria-current={isHere ? 'page' : undefined}>
      {children}
    </a>
  )
}

interface ShellProps {
  readonly who: Visitor
  /** Name in the address, and title. */
  readonly pages: readonly (readonly [name: string, title: string])[]
  readonly here: string
  readonly children: ComponentChildren
}

export function Shell({ who, pages, here, children }: ShellProps) {
  const name = who.role === 'owner' ? who.account : `${who.name} · ${who.staff_role}`
  const ways = pages.map(([page, title]) => (
    <Link key={page} to={addressWith({ page }, new URLSearchParams())} isHere={page === here}>
      {title}
    </Link>
  ))
  return (
    <>
      <Header home="/console" ways={ways} links={['/live', '/docs']}>
        <span title={who.role}>{name}</span>
        <Button text="Sign out" class="plain" onClick={signOut} />
      </Header>
      <main id="main">{children}</main>
    </>
  )
}
