import { batch, computed, signal } from '@preact/signals'
import { managementPaths, viewsPath } from './config.js'
import { chosenZone, knownZone } from './preferences.js'
import { ALL_TIME, formatPageQuery, type PageQuery, parsePageQuery, resolvers } from './query.js'
import { decode, encoded } from './query-tokens.js'

/*
 * The query is stored in the page's address, so Back and Forward restore earlier queries. The address also has
 * members for the display of the events. `#event=<id>` is the open event; `#subscriptions`, `#channels` and `#views`
 * open lists that users manage; `#history?source=<path>` opens the history of a resource, and `#compare=<id>,<id>`
 * two events side by side.
 */

const DEFAULT_SEARCH = 'range=24h'

/** True if the page was opened without a query. */
export const isDefaultStart = location.search === ''

/**
 * The parameters of the address that are not part of the query; `undefined` for missing parameters. Each is read and
 * written by one feature.
 */
export const members = {
  view: signal<string | undefined>(undefined),
  facets: signal<string | undefined>(undefined),
  columns: signal<string | undefined>(undefined),
  groups: signal<string | undefined>(undefined),
  numbers: signal<string | undefined>(undefined),
  zone: signal<string | undefined>(undefined),
}

export type Member = keyof typeof members

const all = Object.entries(members)

/** Moves the members out of a query string, and returns the rest. Missing members keep their values. */
function takeMembers(text: string): string {
  let rest = `&${text}`
  for (const [name, member] of all)
    rest = rest.replace(RegExp(`&${name}=([^&]*)`), (_, value: string) => {
      member.value = decode(value)
      return ''
    })
  return rest.slice(1)
}

function read(): string {
  for (const [, member] of all) member.value = undefined
  // Unescaped brackets are easier to read and to copy.
  const text = location.search.slice(1).replaceAll('%5B', '[').replaceAll('%5D', ']')
  return takeMembers(text) || DEFAULT_SEARCH
}

/** The query string with the members that are set. */
const withMembers = (text: string): string =>
  all.reduce(
    (whole, [name, { value }]) =>
      value === undefined ? whole : `${whole}&${name}=${encoded(value)}`,
    text,
  )

/** Names as the text of a member, and the inverse. */
export const joinNames = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll(/[%,+]/g, encodeURIComponent)).join()
export const splitNames = (text: string): readonly string[] =>
  text.split(',').map(decode).filter(Boolean)

/** The time zone of the browser. */
export const localZone = Intl.DateTimeFormat().resolvedOptions().timeZone

/** The time zone in use, an IANA name: the zone of the address, else the user's choice. */
export const zone = computed(
  () => knownZone(members.zone.value) ?? knownZone(chosenZone.value) ?? localZone,
)

const readHash = (pattern: RegExp): string | undefined => {
  const [, text] = pattern.exec(location.hash) ?? []
  return text && decode(text)
}

const readOpen = (): string | undefined => readHash(/^#event=(.+)$/)

const PLACES = `${managementPaths ? 'subscriptions|channels|' : ''}${viewsPath ? 'views|' : ''}history|compare`
const PLACE = new RegExp(`^#((?:${PLACES})(?:[=?].*)?)$`)

const readManaged = (): string | undefined => readHash(PLACE)

/** The query string of the address, without `?` and members. */
export const search = signal(read())

/** The id of the open event. */
export const openId = signal(readOpen())

/**
 * The panel that is open beside the list instead of an event: `subscriptions`, `channels=<id>`,
 * `history?source=<path>`.
 */
export const managed = signal(readManaged())

interface Read {
  readonly query: PageQuery
  /** The error from parsing the address. */
  readonly fault: Error | undefined
}

const NOTHING: PageQuery = { where: [], sorts: [], range: ALL_TIME }

let lastGood = NOTHING

const parsed = computed((): Read => {
  try {
    lastGood = parsePageQuery(search.value)
    return { query: lastGood, fault: undefined }
  } catch (error) {
    return { query: lastGood, fault: error as Error }
  }
})

/** The query in the address. While it is invalid, the last valid query. */
export const query = computed(() => parsed.value.query)

/** The error from parsing the address. While it is set, no request is sent. */
export const fault = computed(() => parsed.value.fault)

function write(replace: boolean): void {
  const open =
    openId.value === undefined
      ? managed.value && encodeURI(managed.value)
      : `event=${encodeURIComponent(openId.value)}`
  const hash = open === undefined ? '' : `#${open}`
  const address = `${location.pathname}?${withMembers(search.value)}${hash}`
  if (address === `${location.pathname}${location.search}${location.hash}`) return
  if (replace) history.replaceState(null, '', address)
  else history.pushState(null, '', address)
}

/** Calls `use` once the range of a query string can be read. This is at once, except for the first calendar range. */
export async function whenReadable(text: string, use: () => void): Promise<void> {
  if (!resolvers.calendar && /(?:^|&)range=(?!all)[a-z]/.test(text)) {
    try {
      const calendar = await import('./calendar-range.js')
      resolvers.calendar = (name, now) => calendar.calendarRange(name, now, zone.value)
    } catch {
      // The range is invalid then, and the page says so.
    }
  }
  use()
}

/** Navigates to a query string, which may have members. An invalid one sets `fault`. */
export function goToText(text: string): void {
  void whenReadable(text, () => {
    batch(() => (search.value = takeMembers(text)))
    write(false)
  })
}

/** Navigates to a query string with its members; all other members are removed. */
export function goToAddress(text: string): void {
  void whenReadable(text, () =>
    batch(() => {
      for (const [, member] of all) member.value = undefined
      goToText(text)
    }),
  )
}

/** Sets a member of the address; `undefined` removes it. With `replace`, adds no history entry. */
export function setMember(name: Member, text: string | undefined, replace = false): void {
  members[name].value = text
  write(replace)
}

export function goTo(next: PageQuery): void {
  goToText(formatPageQuery(next))
}

export function changeQuery(change: (query: PageQuery) => PageQuery): void {
  goTo(change(query.value))
}

/** Opens an event beside the list; `undefined` closes it. Going from one event to the next adds no history entry. */
export function openEvent(id: string | undefined): void {
  const replace = openId.value !== undefined && id !== undefined
  openId.value = id
  managed.value = undefined
  write(replace)
}

/** Opens another panel beside the list instead of an event; `undefined` closes it. */
export function openManaged(place: string | undefined): void {
  managed.value = place
  openId.value = undefined
  write(false)
}

/** Updates the signals on the browser's Back and Forward. */
export function followAddress(): void {
  write(true)
  addEventListener('popstate', () => {
    void whenReadable(location.search.slice(1), () =>
      batch(() => {
        search.value = read()
        openId.value = readOpen()
        managed.value = readManaged()
      }),
    )
  })
}
