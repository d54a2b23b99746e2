import type { DescribedTypes } from './describing/describe-event.js'
import { AuditLogError } from './errors.js'
import type { AuditEvent } from './event/event.js'
import { pagesOfOneLog } from './event/event-of-log.js'
import { linkRules, type LinkTable } from './event/links.js'
import { bothOf, type EventQuery, type Grouping } from './filter/ast.js'
import { type Concealed, type Concealment, readConcealed } from './filter/conceal.js'
import { type QueryInput, toQuery } from './filter/query-input.js'
import { parseVisible, type Visible } from './filter/visible-filter.js'
import {
  type HistoryEntry,
  historyOf,
  historyQuery,
  type HistoryResource,
  readResource,
  resourceNames,
} from './history/history.js'
import { checkOptions, type OptionNames, requireOptions } from './options.js'
import {
  type LogReader,
  READ_GET,
  READ_HISTORY,
  READ_LIST,
  READ_TAIL,
  type ReadCountOptions,
  type ReadGetOptions,
  type ReadGroupOptions,
  type ReadHistoryOptions,
  type ReadListOptions,
  type ReadTailOptions,
} from './reading/log-reader.js'
import { checkForm, type PersonalOptions } from './reading/personal-values.js'
import { visibleEvent } from './reading/visible-event.js'
import type { EventCounts } from './store/counts.js'
import type { EventGroups } from './store/groups.js'
import type { EventPage } from './store/store.js'
import type { EventChange } from './tail/changes.js'
import type { EventTail } from './tail/tails.js'

/** The part of a log that a reader may see. Has at least one of the two. */
export interface Restriction {
  /** A filter for the events that the reader may see, such as `{ customer_eq: 'ann' }`, or `'all'`, as `visible` of `auditRoutes` returns it. @default `'all'` */
  readonly visible?: Visible
  /** Names of attributes that the reader must not see, as `conceal` of `auditRoutes` returns them. @default none */
  readonly conceal?: Concealed
  /**
   * `open` for a reader who may see personal attributes. Without it, a call with `personal: 'open'` rejects with `INVALID_OPTION`.
   * @default 'sealed'
   */
  readonly personal?: 'open' | 'sealed' | undefined
}

/** The parts of a restriction that a call cannot replace. */
const LIMITS: OptionNames<Omit<Restriction, 'personal'>> = { visible: true, conceal: true }
const RESTRICTION: OptionNames<Restriction> = { ...LIMITS, personal: true }

/** Throws `INVALID_OPTION` for names that are not in `names`, and if both `visible` and `conceal` are missing. */
export function checkRestriction(
  restriction: object,
  names: OptionNames<Omit<Restriction, 'personal'>> = LIMITS,
): void {
  requireOptions(restriction, names, 'restricted')
  if (!Object.keys(LIMITS).some((name) => name in restriction))
    throw new AuditLogError('INVALID_OPTION', 'restricted needs visible, conceal, or both')
}

/** Throws `INVALID_OPTION` if a call of a restricted log has a restriction of its own. */
export function refuseRestriction(options: object | undefined, method: string): void {
  const given = Object(options) as Readonly<Record<string, unknown>>
  const own = Object.keys(LIMITS).find((name) => given[name] !== undefined)
  if (own === undefined) return
  const message = `${method} of a restricted log takes no ${own}: the log has its own`
  throw new AuditLogError('INVALID_OPTION', message)
}

/** A view of events without the concealed attributes. */
export interface View {
  readonly concealed: Concealment | undefined
  readonly event: (event: AuditEvent) => AuditEvent
  /** The parsed query on events as the reader sees them. Throws `UNKNOWN_ATTRIBUTE`. */
  readonly query: (query: QueryInput | undefined) => EventQuery
  /** Checks what a count or a group asks for. Throws `UNKNOWN_ATTRIBUTE`. */
  readonly checkNames: (asked: Readonly<Record<string, readonly string[] | undefined>>) => void
  readonly counts: (counts: EventCounts) => EventCounts
}

/** The view of events without these attributes. Throws `INVALID_OPTION`. */
export function viewOf(concealed: Concealment | undefined): View {
  return {
    concealed,
    event: (event) => (concealed ? concealed.event(event) : event),
    query(query) {
      const parsed = toQuery(query)
      return concealed ? concealed.query(parsed) : parsed
    },
    checkNames(asked) {
      for (const [parameter, names = []] of Object.entries(asked))
        concealed?.check(
          names.filter((name) => name !== 'level'),
          parameter,
        )
    },
    counts({ attributes, ...counts }) {
      const shown = attributes?.filter(({ name }) => !concealed?.hides(name))
      return { ...counts, attributes: shown }
    },
  }
}

/** The filters of the events of a resource, as the reader may ask for them. Throws `INVALID_VALUE` and `UNKNOWN_ATTRIBUTE`. */
export function resourceOf(view: View, resource: HistoryResource, links: LinkTable) {
  const found = readResource(resource, linkRules(links))
  view.checkNames({ resource: resourceNames(resource) })
  return found
}

/** A log as one reader may see it: see `AuditLog.restricted`. Its methods are those of the log. */
export interface RestrictedLog extends DescribedTypes {
  readonly links: LinkTable
  list(query?: QueryInput, options?: ReadListOptions): Promise<EventPage>
  pages(
    query?: QueryInput,
    options?: ReadListOptions,
  ): AsyncGenerator<readonly AuditEvent[], void, void>
  get(id: string, options?: ReadGetOptions): Promise<AuditEvent | undefined>
  count(query?: QueryInput, options?: Omit<ReadCountOptions, 'visible'>): Promise<EventCounts>
  groups(
    query: QueryInput | undefined,
    options: Omit<ReadGroupOptions, 'visible'>,
  ): Promise<EventGroups>
  history(
    resource: HistoryResource,
    options?: ReadHistoryOptions,
  ): AsyncGenerator<HistoryEntry, void, void>
  tail(
    query?: QueryInput,
    options?: Omit<ReadTailOptions, 'visible' | 'conceal' | 'changes'> & {
      readonly changes?: false
    },
  ): EventTail
  tail(
    query: QueryInput | undefined,
    options: Omit<ReadTailOptions, 'visible' | 'conceal'>,
  ): EventTail<AuditEvent | EventChange>
}

/** The parts of a log that are restricted. */
type ReadLog = Pick<
  LogReader,
  Exclude<keyof RestrictedLog, keyof DescribedTypes> | 'sealedNames' | 'hasKeys'
> &
  DescribedTypes

/** Returns the form of a call. Throws `INVALID_OPTION` for values that the reader may not see. */
function formsOf({ personal = 'sealed' }: Restriction, { hasKeys }: ReadLog) {
  if (personal !== 'open' && personal !== 'sealed')
    throw new AuditLogError('INVALID_OPTION', "restricted: personal must be 'open' or 'sealed'")
  if (personal === 'open' && !hasKeys)
    throw new AuditLogError(
      'INVALID_OPTION',
      "restricted: personal: 'open' needs the option privacy of the log",
    )
  return <Options extends PersonalOptions>(
    options: Options,
    names: OptionNames<Options>,
    method: string,
  ): Options => {
    checkOptions(options, names, method)
    const { personal: asked } = options
    checkForm(asked)
    if (asked === 'open' && personal !== 'open')
      throw new AuditLogError(
        'INVALID_OPTION',
        "personal: 'open' needs the same member in the restriction of the log",
      )
    return { ...options, personal: asked ?? personal }
  }
}

/** The log as one reader may see it. Throws `INVALID_OPTION` and `INVALID_VALUE`. */
export function restrictLog(log: ReadLog, restriction: Restriction): RestrictedLog {
  checkRestriction(restriction, RESTRICTION)
  const { links, types, customTypes } = log
  const visible: Grouping | undefined =
    'visible' in restriction ? parseVisible(restriction.visible) : undefined
  log.sealedNames.checkOption(visible, 'restricted: visible')
  const view = viewOf(
    'conceal' in restriction ? readConcealed(restriction.conceal, links) : undefined,
  )
  const formed = formsOf(restriction, log)
  const within = (query: EventQuery): EventQuery => ({
    ...query,
    where: bothOf(visible, query.where),
  })
  async function* pagesOf(query: EventQuery, options: ReadListOptions) {
    for await (const page of log.pages(within(query), options)) yield page.map(view.event)
  }
  return {
    types,
    customTypes,
    links,
    async list(query, options = {}) {
      const page = await log.list(within(view.query(query)), formed(options, READ_LIST, 'list'))
      return { ...page, events: page.events.map(view.event) }
    },
    async *pages(query, options = {}) {
      yield* pagesOf(view.query(query), formed(options, READ_LIST, 'pages'))
    },
    async get(id, options = {}) {
      const event = await visibleEvent(log, id, visible, formed(options, READ_GET, 'get'))
      return event && view.event(event)
    },
    async count(query, options = {}) {
      refuseRestriction(options, 'count')
      const wanted = view.query(query)
      view.checkNames({ facets: options.facets })
      return view.counts(await log.count(wanted, { ...options, visible }))
    },
    async groups(query, options) {
      refuseRestriction(options, 'groups')
      const wanted = view.query(query)
      view.checkNames({ by: options?.by, numbers: options?.numbers })
      return log.groups(wanted, { ...options, visible })
    },
    async *history(resource, options = {}) {
      const { asOf, ...reading } = formed(options, READ_HISTORY, 'history')
      const found = resourceOf(view, resource, links)
      log.sealedNames.check(resourceNames(resource), 'resource')
      yield* historyOf(pagesOfOneLog(pagesOf(historyQuery(found, { asOf }), reading)), found)
    },
    tail(query?: QueryInput, options: ReadTailOptions = {}): EventTail {
      refuseRestriction(options, 'tail')
      const conceal = view.concealed?.names
      return log.tail(query, {
        ...formed(options, READ_TAIL, 'tail'),
        visible,
        conceal,
      }) as EventTail
    },
  }
}
