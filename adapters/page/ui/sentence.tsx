import type { AuditEvent } from '../../../src/event/event.js'
import { describeIn } from '../../../src/describing/describe-in.js'
import type { Sentence, SentencePart } from '../../../src/describing/sentence.js'
import { customTypes, types } from '../data/account.js'
import { formatShort } from '../data/format.js'
import { openEvents } from '../data/open-events.js'
import { marked } from './marked.js'
import { sentences } from './texts.js'

let cache = new WeakMap<AuditEvent, Sentence>()
let madeWith: unknown

/** Makes the event's sentence, without the cache. */
export const describe = (event: AuditEvent, isOpen: boolean): Sentence =>
  describeIn(event, {
    language: sentences,
    types: types.value,
    customTypes: customTypes.value,
    isOpen,
  })

/** The event's sentence, from a cache. For an open event it is built each time. */
export function sentenceOf(event: AuditEvent): Sentence {
  if (madeWith !== types.value) {
    madeWith = types.value
    cache = new WeakMap()
  }
  if (openEvents.value.has(event.id)) return describe(event, true)
  const known = cache.get(event)
  if (known) return known
  const sentence = describe(event, false)
  cache.set(event, sentence)
  return sentence
}

function Part({ part }: { part: SentencePart }) {
  switch (part.kind) {
    case 'text':
      return <>{marked(part.text)}</>
    case 'name':
      return (
        <b class={part.text.includes('/') ? 'path' : undefined}>
          <bdi>{marked(part.text)}</bdi>
        </b>
      )
    case 'reason':
      return (
        <span class="why">
          <bdi>{marked(part.text)}</bdi>
        </span>
      )
    case 'quote':
      return (
        <q>
          <bdi>{marked(part.text)}</bdi>
        </q>
      )
    case 'tag':
      return <span class="tag">{part.text}</span>
    case 'time':
      return <time dateTime={part.text}>{formatShort(new Date(part.text))}</time>
    case 'progress':
      return (
        <>
          <svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
            <rect width={part.percent} height="6" />
          </svg>
          {part.text}
        </>
      )
  }
}

/** The sentence without its subject. */
export function SentenceBody({ sentence }: { sentence: Sentence }) {
  return (
    <>
      {sentence.what.map((part, index) => (
        <Part key={index} part={part} />
      ))}
    </>
  )
}
