import { computed, effect } from '@preact/signals'
import type { ComponentChild } from 'preact'
import { visibleText } from '../../../src/describing/visible-text.js'
import type { AuditEvent } from '../../../src/event/event.js'
import { query } from '../data/address.js'
import { findTexts, type TextsFinder } from '../data/text-finder.js'
import { searchedTexts } from '../data/free-text.js'
import { type Marker, marker } from '../ui/marked.js'
import { type FoundPlace, foundPlace, textsOf } from './found-place.js'

/** The text, with its found parts in `<mark>`. */
function markedText(text: string, finder: TextsFinder): ComponentChild {
  const spans = finder.spansIn(text)
  if (spans.length === 0) return text
  const end = spans.at(-1)!.to
  return (
    <>
      {spans.map(({ from, to }, index) => (
        <>
          {text.slice(spans[index - 1]?.to ?? 0, from)}
          <mark>{text.slice(from, to)}</mark>
        </>
      ))}
      {text.slice(end)}
    </>
  )
}

/** The found places by event. A row shows the same texts until its event changes. */
function markerFor(texts: readonly string[]): Marker {
  const finder = findTexts(texts)
  const places = new WeakMap<AuditEvent, { readonly place: FoundPlace | undefined }>()
  return {
    text: (text) => markedText(text, finder),
    place(event, shown) {
      const known = places.get(event) ?? { place: foundPlace(event, shown, finder) }
      places.set(event, known)
      const { place } = known
      return (
        place && (
          <span class="found-place">
            <bdi>{visibleText(place.path)}</bdi>:{' '}
            <bdi>{markedText(visibleText(place.excerpt), finder)}</bdi>
          </span>
        )
      )
    },
    contains(value) {
      for (const [, text] of textsOf(value, '')) if (finder.foundIn(text).length > 0) return true
      return false
    },
  }
}

const searched = computed(() => JSON.stringify(searchedTexts(query.value.where)))

let isStarted = false

/** Keeps the marker up to date with the free text of the query. */
export function startMarking(): void {
  if (isStarted) return
  isStarted = true
  effect(() => {
    const texts = JSON.parse(searched.value) as string[]
    marker.value = texts.length === 0 ? undefined : markerFor(texts)
  })
}
