import type { EventOfLog } from '../../event/event-of-log.js'
import type { Concealment } from '../../filter/conceal.js'
import { reportNothing } from './handler.js'
import type { EventsSource } from './source.js'

/**
 * The source as if the events had no concealed attributes. Requests that name one are refused with `UNKNOWN_ATTRIBUTE`. Streams
 * of the source render its view by themselves.
 */
export function concealedSource(source: EventsSource, concealed: Concealment): EventsSource {
  const ofItem = <Item extends EventOfLog>(item: Item): Item => ({
    ...item,
    event: concealed.event(item.event),
  })
  async function* ofPages(
    pages: AsyncIterable<readonly EventOfLog[]>,
  ): AsyncGenerator<readonly EventOfLog[], void, void> {
    for await (const page of pages) yield page.map(ofItem)
  }
  return {
    ...source,
    isRestricted: true,
    async read(id) {
      const item = await source.read(id)
      return item && ofItem(item)
    },
    async page(request) {
      const page = await source.page({ ...request, query: concealed.query(request.query) })
      return { ...page, events: page.events.map(ofItem) }
    },
    async list(query) {
      const { events } = await source.list(concealed.query(query))
      return { events: events.map((event) => concealed.event(event)) }
    },
    // The query is that of a history, which tests what it finds.
    pages: (query) => ofPages(source.pages(query)),
    checkNames(names, parameter) {
      concealed.check(names, parameter)
      source.checkNames(names, parameter)
    },
    async count(where, options) {
      const facets = options.facets ?? []
      concealed.check(
        facets.filter((name) => name !== 'level'),
        'facets[]',
      )
      const counts = await source.count(concealed.where(where), options)
      const { attributes } = counts
      return { ...counts, attributes: attributes?.filter(({ name }) => !concealed.hides(name)) }
    },
    async groups(where, options) {
      concealed.check(
        options.by.filter((name) => name !== 'level'),
        'by[]',
      )
      concealed.check(options.numbers ?? [], 'numbers[]')
      return source.groups(concealed.where(where), options)
    },
    async existing(where) {
      const existing = await source.existing(concealed.where(where))
      return { ...existing, pages: () => ofPages(existing.pages()) }
    },
    stream(request, reportRead) {
      if (reportRead === reportNothing) return source.stream(request, reportRead)
      return source.stream(request, (items) => reportRead(items.map(ofItem)))
    },
  }
}
