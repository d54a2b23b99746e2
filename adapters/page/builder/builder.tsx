import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { countEvents } from '../data/api.js'
import { Phrases } from '../ui/phrases.js'
import { QueryText } from '../ui/query-text.js'
import { queryTokens, readable } from '../data/query-tokens.js'
import { useEscape } from '../ui/keyboard.js'
import { useModal } from '../ui/modal.js'
import { ALL_TIME, apiQuery, formatPageQuery, parsePageQuery } from '../data/query.js'
import { texts } from '../ui/texts.js'
import { AddTo, AllOrAny, Members } from './rows.js'
import { querySentence } from './sentence.js'
import { apply, cancel, closePicker, draft, draftQuery, picking, start } from './state.js'

/** Waits for the hand to rest before it asks. */
const REST_MS = 250

/** How many events the rows would show; `undefined` until it is known. */
function useCount(search: string, isReadable: boolean): string | undefined {
  const count = useSignal<string | undefined>(undefined)
  useEffect(() => {
    if (!isReadable) return
    const controller = new AbortController()
    const ask = async (): Promise<void> => {
      const { total, sampled } = await countEvents(
        apiQuery(draftQuery.value),
        {},
        controller.signal,
      )
      const text = texts.common.events(total)
      count.value = sampled ? texts.common.about(text) : text
    }
    const timer = setTimeout(() => {
      // Aborted, or not to be had: the button does without the number.
      ask().catch(() => (count.value = undefined))
    }, REST_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [search])
  return count.value
}

/** Why the rows cannot be asked for, such as a time that is none. */
function problemOf(search: string): string | undefined {
  try {
    parsePageQuery(search)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function Foot() {
  const query = draftQuery.value
  const search = formatPageQuery(query)
  const problem = problemOf(search)
  const count = useCount(search, problem === undefined)
  const { where, sorts } = query
  const filter = readable(apiQuery({ where, sorts, range: ALL_TIME }))
  const sentence = querySentence(where, { ...texts.words, ...texts.builder.sentence })
  return (
    <div class="builder-foot">
      {problem === undefined ? (
        <p class="reads">
          <Phrases of={sentence} />.
        </p>
      ) : (
        <p class="reads problem-text" role="alert">
          {problem}
        </p>
      )}
      <div class="do">
        <button type="button" class="btn" onClick={cancel}>
          {texts.common.cancel} <kbd>Esc</kbd>
        </button>
        <button type="button" class="btn main" disabled={problem !== undefined} onClick={apply}>
          {texts.builder.show(count)} <kbd>{texts.builder.applyKey}</kbd>
        </button>
      </div>
      {filter !== '' && (
        <p class="raw-live">
          <QueryText tokens={queryTokens(filter)} />
        </p>
      )}
    </div>
  )
}

/** A picker that closes as a button is pressed would move that button from under the pointer. */
function keepField(event: PointerEvent): void {
  if (picking.value && (event.target as Element).closest('button')) event.preventDefault()
}

/** The query's filters as rows of attribute, predicate and value, in groups of all or any. */
export function Builder() {
  const { ref, onKeyDown, ...modal } = useModal(cancel)
  useEffect(start, [])
  useLayoutEffect(() => {
    // Chips may have wrapped into several lines.
    const { bottom } = document.querySelector('.bar')!.getBoundingClientRect()
    document.documentElement.style.setProperty('--under-bar', `${bottom}px`)
  }, [])
  useEscape(picking.value !== undefined, closePicker)
  const root = draft.value

  function onKey(event: KeyboardEvent): void {
    onKeyDown(event)
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    apply()
  }

  return (
    <>
      <div class="veil" onClick={cancel} />
      <section
        ref={ref}
        class="builder"
        aria-label={texts.builder.label}
        onKeyDown={onKey}
        onPointerDown={keepField}
        {...modal}
      >
        <div class="builder-head">
          <h2>{texts.builder.title}</h2>
          <span>{texts.builder.match}</span>
          <AllOrAny group={root} />
          <span>{texts.builder.ofThese}</span>
        </div>
        <div class="group">
          <Members group={root} />
        </div>
        <AddTo group={root} />
        <Foot />
      </section>
    </>
  )
}
