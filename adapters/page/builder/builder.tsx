import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import { countEvents } from '../data/api.js'
import { Phrases } from '../ui/phrases.js'
import { QueryText } from '../ui/query-text.js'
import { queryTokens, readableQuery } from '../data/query-tokens.js'
import { useEscape } from '../ui/keyboard.js'
import { useDialog } from '../ui/native-dialog.js'
import { ALL_TIME, apiQuery, formatPageQuery, parsePageQuery } from '../data/query.js'
import { eventsText } from '../ui/count-text.js'
import { texts } from '../ui/texts.js'
import { AddTo, AllOrAny, Members } from './rows.js'
import { querySentence } from './sentence.js'
import { apply, cancel, closePicker, editedGroup, draftQuery, picking, start } from './state.js'

/** Debounce before events are counted. */
const COUNT_DEBOUNCE_MS = 250

/** The number of events that the draft matches; `undefined` until known. */
function useCount(search: string, isReadable: boolean): string | undefined {
  const count = useSignal<string | undefined>(undefined)
  useEffect(() => {
    if (!isReadable) return
    const controller = new AbortController()
    const load = async (): Promise<void> => {
      const { total, exact } = await countEvents(apiQuery(draftQuery.value), {}, controller.signal)
      count.value = exact.total || total > 0 ? eventsText(total, exact.total) : undefined
    }
    const timer = setTimeout(() => {
      // Aborted or failed: the button shows no number.
      load().catch(() => (count.value = undefined))
    }, COUNT_DEBOUNCE_MS)
    return () => {
      clearTimeout(timer)
      controller.abort()
    }
  }, [search])
  return count.value
}

/** The error in the draft, such as an invalid time. */
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
  const filter = readableQuery(apiQuery({ where, sorts, range: ALL_TIME }))
  const sentence = querySentence(where, { ...texts.words, ...texts.builder.sentence })
  return (
    <div class="builder-foot">
      {problem === undefined ? (
        <p class="draft-sentence">
          <Phrases of={sentence} />.
        </p>
      ) : (
        <p class="draft-sentence problem-text" role="alert">
          {problem}
        </p>
      )}
      <div class="actions">
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

/**
 * Keeps the picker open while a button is pressed, because closing it would move the button away from the pointer.
 */
function keepField(event: PointerEvent): void {
  if (picking.value && (event.target as Element).closest('button')) event.preventDefault()
}

/** Edits the query's filters as rows of attribute, predicate and value, in groups of all or any. */
export function Builder() {
  const modal = useDialog(cancel)
  useEffect(start, [])
  useLayoutEffect(() => {
    // The height of the bar depends on how many lines its chips take.
    const { bottom } = document.querySelector('.bar')!.getBoundingClientRect()
    document.documentElement.style.setProperty('--under-bar', `${bottom}px`)
  }, [])
  useEscape(picking.value !== undefined, closePicker)
  const root = editedGroup.value

  function onKey(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey)) return
    event.preventDefault()
    apply()
  }

  return (
    <dialog
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
    </dialog>
  )
}
