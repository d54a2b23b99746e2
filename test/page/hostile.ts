import { type AuditEvent, formatTimestamp, type JsonObject } from 'daybook'
import type { Page, Request } from 'playwright-core'
import { expect, onTestFinished } from 'vitest'
import { openPage, type OpenPageOptions } from '../support/browser.js'
import { type PageHost, servePage } from '../support/page-host.js'

/* Events whose content must be shown as text. It must not run, link elsewhere, or hide anything. */

export const IMAGE = '<img src=x onerror=globalThis.pwned=1>'
export const SCRIPT = '</script><script>globalThis.pwned=1</script>'
export const BOLD = '<b class=injected>bold</b>'
const TURNED = 'ann\u202Etxt.exe'
const UNSEEN = 'an\u200Bn\u2066x'
export const EMOJI = '👩‍👩‍👧 🧨'

interface HostileFields {
  readonly type?: string
  readonly username?: string
  readonly source?: string
  readonly attributes?: JsonObject
}

const deep = (levels: number): JsonObject =>
  levels === 0 ? { end: 'bottom' } : { d: deep(levels - 1) }

const HOSTILE_FIELDS = {
  markup: {
    type: `${IMAGE}:${BOLD}`,
    username: SCRIPT,
    source: '/api/projects/acme',
    attributes: {
      name: BOLD,
      [IMAGE]: SCRIPT,
      error: IMAGE,
      backtrace: [`${IMAGE}:1:in '${BOLD}'`],
    },
  },
  system: {
    type: 'audit:steps:approve',
    username: IMAGE,
    attributes: { name: BOLD, change_name: SCRIPT, message: IMAGE, link: 'javascript:pwned=1' },
  },
  changes: {
    type: 'api:projects:update',
    username: 'ann',
    attributes: {
      name: IMAGE,
      changes: [
        { op: 'replace', path: `/${IMAGE}`, value: `${BOLD} after`, old_value: `${BOLD} before` },
        { op: 'add', path: '/__proto__/polluted', value: SCRIPT },
      ],
    },
  },
  log: {
    type: 'info:template_version:fetch',
    attributes: { name: BOLD, progress: `${IMAGE}\n${SCRIPT}\n\u001b[31mred\u202E` },
  },
  scheme: { source: 'javascript:globalThis.pwned=1' },
  host: { source: '//evil.example/x' },
  slash: { source: '/\\evil.example/x' },
  tab: { source: '/\t/evil.example/x' },
  absolute: { source: 'https://evil.example/x' },
  turned: { username: TURNED, attributes: { name: UNSEEN, [TURNED]: UNSEEN } },
  lines: { username: 'eve', attributes: { name: `${EMOJI} one\ntwo\r\nthree` } },
  large: { attributes: { text: 'x'.repeat(1_000_000) } },
  prototype: {
    attributes: JSON.parse(
      `{"__proto__": {"polluted": "yes"}, "constructor": {"prototype": {"polluted": "yes"}}, "toString": "text"}`,
    ) as JsonObject,
  },
  wide: {
    attributes: Object.fromEntries(Array.from({ length: 2000 }, (_, n) => [`key_${n}`, n])),
  },
  deep: { attributes: deep(50) },
} satisfies Readonly<Record<string, HostileFields>>

export type Name = keyof typeof HOSTILE_FIELDS

const START = Date.now() * 1000 - 600_000_000
export const EVENTS = Object.fromEntries(
  Object.entries<HostileFields>(HOSTILE_FIELDS).map(([name, fields], n): [string, AuditEvent] => [
    name,
    {
      id: `00000000-0000-4000-8000-${n.toString().padStart(12, '0')}`,
      created_at: formatTimestamp(START + n * 1_000_000),
      username: fields.username ?? null,
      system: fields.type !== undefined && !fields.type.startsWith('<'),
      type: fields.type ?? 'hostile:event',
      source: fields.source ?? null,
      attributes: fields.attributes ?? {},
    },
  ]),
) as Readonly<Record<Name, AuditEvent>>

/** A host whose log contains only these events. */
export const serveHostile = (): Promise<PageHost> => servePage({ events: Object.values(EVENTS) })

/** Effects that a text must never have. */
const HARM = `({
  pwned: globalThis.pwned,
  polluted: ({}).polluted,
  refused: globalThis.refused,
  elements: document.querySelectorAll('.injected, img, iframe, object, script:not([src])').length,
  handlers: [...document.querySelectorAll('*')].filter((element) =>
    element.getAttributeNames().some((name) => name.startsWith('on'))).length,
  links: [...document.querySelectorAll('a, area, form')]
    .map((element) => element.getAttribute('href') ?? element.getAttribute('action') ?? '')
    .filter((path) => new URL(path, location).origin !== location.origin),
  hidden: /[\\u202A-\\u202E\\u2066-\\u2069\\u200B]/.test(document.body.innerText),
})`
const NONE = {
  pwned: undefined,
  polluted: undefined,
  refused: [],
  elements: 0,
  handlers: 0,
  links: [],
  hidden: false,
}

/** Opens a page that records attempts to run script or to load files. */
export async function openWatched(
  host: Pick<PageHost, 'url' | 'page'>,
  address = '?range=all',
  options: OpenPageOptions = {},
): Promise<Page> {
  const page = await openPage('about:blank', {
    user: 'ann',
    viewport: { width: 1440, height: 900 },
    ...options,
  })
  const acts: string[] = []
  await page.addInitScript(`
    globalThis.refused = []
    addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) =>
      globalThis.refused.push(violatedDirective + ' ' + blockedURI))
  `)
  page.on('dialog', (dialog) => {
    acts.push(`dialog ${dialog.message()}`)
    void dialog.dismiss()
  })
  const context = page.context()
  const onPage = (other: Page): unknown => acts.push(`page ${other.url()}`)
  const onRequest = (request: Request): void => {
    if (new URL(request.url()).origin !== host.url) acts.push(`request ${request.url()}`)
  }
  context.on('page', onPage)
  context.on('request', onRequest)
  page.on('framenavigated', (frame) => {
    if (!frame.url().startsWith(host.page)) acts.push(`navigation ${frame.url()}`)
  })
  onTestFinished(() => {
    context.off('page', onPage)
    context.off('request', onRequest)
    expect(acts).toEqual([])
  })
  await page.goto(host.page + address)
  return page
}

export const expectNoHarm = async (page: Page): Promise<void> => {
  expect(await page.evaluate(HARM)).toEqual(NONE)
}
