import { batch, computed, type Signal } from '@preact/signals'
import { fault, goToAddress, managed, members, query } from '../data/address.js'
import { encoded } from '../data/query-tokens.js'
import { formatPageQuery, parsePageQuery } from '../data/query.js'
import { openView, type ShownView, type View } from '../data/views.js'
import { shownDisplay } from './display.js'

/* Converts the shown query and display to a named view, and back. */

const joined = (...parts: readonly string[]): string => parts.filter(Boolean).join('&')

/** Filter, sorts and range of a view as the query string of an address. */
const searchOf = ({ query: text, range }: ShownView): string =>
  joined(range === null ? '' : `range=${range}`, text)

/** The query and display that are shown now. */
export function shownView(): ShownView {
  const pairs = formatPageQuery(query.value).split('&')
  const range = pairs.find((pair) => pair.startsWith('range='))
  return {
    query: pairs.filter((pair) => pair !== range).join('&'),
    range: range === undefined ? null : range.slice('range='.length),
    display: shownDisplay(),
  }
}

/** Shows a view, and closes the panel. The members of the address that the view does not have are removed. */
export function showView(view: View): void {
  const display = Object.entries(view.display).map(([name, text]) => `${name}=${encoded(text)}`)
  batch(() => {
    managed.value = undefined
    goToAddress(joined(searchOf(view), ...display, `view=${view.id}`))
  })
}

/** True if two query strings have the same meaning. */
function isSameQuery(one: string, other: string): boolean {
  try {
    return formatPageQuery(parsePageQuery(one)) === formatPageQuery(parsePageQuery(other))
  } catch {
    return one === other
  }
}

/** True if the shown query or display differs from the open view. */
export const isViewChanged = computed(() => {
  const view = openView.value
  if (!view) return false
  if (fault.value) return true
  const shown = shownView()
  const isOther = ([name, { value }]: [string, Signal<string | undefined>]): boolean => {
    const text = view.display[name]
    // A member that a view does not have is the choice of the reader.
    return text === undefined ? value !== undefined : shown.display[name] !== text
  }
  const { view: _, ...display } = members
  return !isSameQuery(searchOf(shown), searchOf(view)) || Object.entries(display).some(isOther)
})
