// What is around every page of the console: where one can go, who is signed in, the way out.

import type { ComponentChildren } from 'preact'
import { addressWith, go } from './address.dom.ts'
import { signOut, type Visitor } from './visit.dom.ts'

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
  return (
    <>
      <a class="skip" href="#main">
        To the content
      </a>
      <header>
        <a class="brand" href="/console">
          Weir
        </a>
        <nav aria-label="Pages">
          {pages.map(([name, title]) => (
            <Link key={name} to={addressWith({ page: name }, new URLSearchParams())} isHere={name === here}>
              {title}
            </Link>
          ))}
          <a href="/live">Live</a>
          <a href="/docs">Docs</a>
        </nav>
        <p class="who">
          <span title={who.role}>{who.role === 'owner' ? who.account : `${who.name} · ${who.staff_role}`}</span>
          <button type="button" class="plain" onClick={signOut}>
            Sign out
          </button>
        </p>
      </header>
      <main id="main">{children}</main>
    </>
  )
}
