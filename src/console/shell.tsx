// The frame of the console: navigation, path to the current page, theme, sign-out. Below 900 px the navigation is a drawer.

import { signal, useSignal } from '@preact/signals'
import type { IconNode } from 'lucide'
import { LogOut, Menu, X } from 'lucide'
import { type ComponentChildren, h } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { SessionUser } from '../accounts/sessions/session.ts'
import { navigate, pageUrl } from './address.dom.ts'
import { signOut } from './session.dom.ts'
import { CONSOLE, SHELL } from './strings.ts'
import { FailureBanner } from './ui/failure-banner.tsx'
import { FRAME } from './ui/frame-strings.ts'
import { Icon, Mark } from './ui/icon.tsx'
import { Lazy } from './ui/lazy.tsx'
import { labelOf } from './ui/strings.ts'

interface LinkProps {
  readonly to: string
  readonly children: ComponentChildren
  readonly isHere?: boolean
  readonly class?: string
}

/** A link within the console, followed without reloading. Modifier keys work as in any link. */
export function Link({ to, children, isHere, ...own }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a href={to} onClick={follow} aria-current={isHere ? 'page' : undefined} {...own}>
      {children}
    </a>
  )
}

export interface PageGroup {
  /** Null for pages above the groups. */
  readonly title: string | null
  readonly pages: readonly { readonly name: string; readonly title: string; readonly icon: IconNode }[]
}

interface ShellProps {
  readonly visitor: SessionUser
  readonly groups: readonly PageGroup[]
  /** Name of the current page in its group. */
  readonly current: string
  /** Name of the item, if the page shows one of several. */
  readonly detail?: string | null
  /** At the end of the top bar. */
  readonly tools?: ComponentChildren
  readonly children: ComponentChildren
}

/** The name of an item whose address has only its id. */
export const detailName = signal<{ readonly of: string | null; readonly text: string }>({ of: null, text: '' })

const accountSwitch = async () => (await import('./account-switch.tsx')).AccountSwitch

/** The CSS has the same number. */
const WIDE = '(min-width: 900px)'

export function Shell({ visitor, groups, current, detail = null, tools, children }: ShellProps) {
  const isOpen = useSignal(false)
  const menuButton = useRef<HTMLButtonElement>(null)
  const name = visitor.role === 'owner' ? visitor.account : visitor.name
  const title = groups.flatMap(({ pages }) => pages).find((page) => page.name === current)?.title
  const { of, text } = detailName.value
  const detailText = of === detail ? text : detail
  useEffect(() => {
    document.title = [detailText, title, name, CONSOLE.product].filter(Boolean).join(' · ')
  }, [detailText, title, name])
  useEffect(() => {
    isOpen.value = false
    scrollTo(0, 0)
  }, [current, detail])
  useEffect(() => {
    const wide = matchMedia(WIDE)
    const close = () => {
      isOpen.value = false
    }
    wide.addEventListener('change', close)
    return () => wide.removeEventListener('change', close)
  }, [])
  const close = () => {
    isOpen.value = false
    menuButton.current?.focus()
  }
  return (
    <div class="shell">
      <a class="skip" href="#main">
        {FRAME.skip}
      </a>
      <Rail visitor={visitor} groups={groups} current={current} isOpen={isOpen.value} onClose={close} />
      {isOpen.value && <button type="button" class="scrim" aria-label={SHELL.closeMenu} onClick={close} />}
      <div class="column" inert={isOpen.value}>
        <header class="topbar">
          <button
            type="button"
            class="menu"
            ref={menuButton}
            aria-label={SHELL.openMenu}
            aria-expanded={isOpen.value}
            aria-controls="rail"
            onClick={() => (isOpen.value = true)}
          >
            <Icon node={Menu} />
          </button>
          <nav aria-label={SHELL.path}>
            <ol class="path">
              <li title={name}>{name}</li>
              {title && <li>{detail === null ? <b>{title}</b> : <Link to={pageUrl(current)}>{title}</Link>}</li>}
              {detail !== null && (
                <li>
                  <b>{detailText}</b>
                </li>
              )}
            </ol>
          </nav>
          {tools}
        </header>
        <main id="main">
          <FailureBanner />
          {children}
        </main>
      </div>
    </div>
  )
}

interface RailProps extends Omit<ShellProps, 'detail' | 'tools' | 'children'> {
  readonly isOpen: boolean
  readonly onClose: () => void
}

function Rail({ visitor, groups, current, isOpen, onClose }: RailProps) {
  const rail = useRef<HTMLElement>(null)
  useEffect(() => {
    if (isOpen) rail.current?.querySelector('a')?.focus()
  }, [isOpen])
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && isOpen) onClose()
  }
  const who = visitor.role === 'owner' ? visitor.account : visitor.name
  const role = visitor.role === 'owner' ? visitor.member_role : visitor.staff_role
  return (
    <aside class={isOpen ? 'rail open' : 'rail'} id="rail" ref={rail} aria-label={SHELL.rail} onKeyDown={onKeyDown}>
      <p class="head">
        <a class="brand" href="/console">
          <Mark />
          {CONSOLE.product}
        </a>
        <button type="button" class="menu" aria-label={SHELL.closeMenu} onClick={onClose}>
          <Icon node={X} />
        </button>
      </p>
      <nav aria-label={FRAME.navigation}>
        {groups.map((group) => (
          <ul key={group.title} aria-label={group.title ?? undefined}>
            {group.title && (
              <li class="group" aria-hidden="true">
                {group.title}
              </li>
            )}
            {group.pages.map(({ name, title, icon }) => (
              <li key={name}>
                <Link to={pageUrl(name)} isHere={name === current}>
                  <Icon node={icon} />
                  {title}
                </Link>
              </li>
            ))}
          </ul>
        ))}
      </nav>
      <div class="foot">
        <p class="elsewhere">
          {(['/docs', '/live', '/status'] as const).map((path) => (
            <a key={path} href={path}>
              {FRAME.links[path]}
            </a>
          ))}
          {h('legal-links', null)}
        </p>
        {h('theme-switch', null)}
        {visitor.role === 'owner' && visitor.accounts > 1 && (
          <Lazy load={accountSwitch} props={{ current: visitor.account }} />
        )}
        <p class="who">
          <span title={who}>
            {who}
            {role && <small>{labelOf(role)}</small>}
          </span>
          <button type="button" class="plain" onClick={signOut}>
            <Icon node={LogOut} />
            {CONSOLE.signOut}
          </button>
        </p>
      </div>
    </aside>
  )
}
