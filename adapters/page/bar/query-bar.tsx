import { signal, useSignal } from '@preact/signals'
import type { TargetedEvent } from 'preact'
import { useRef } from 'preact/hooks'
import { goToText, query } from '../data/address.js'
import { Icon } from '../ui/icon.js'
import { useEscape } from '../ui/keyboard.js'
import { lazy } from '../ui/lazy.js'
import { formatPageQuery } from '../data/query.js'
import { texts } from '../ui/texts.js'
import type * as SuggestionModule from './suggestion-list.js'
import type { Suggestion } from './suggestion.js'

/** The module for suggestions and pasted queries, loaded when the field first gets the focus. */
const suggestions = signal<typeof SuggestionModule | undefined>(undefined)

async function prepare(): Promise<void> {
  suggestions.value ??= await import('./suggestion-list.js')
  suggestions.value.loadSuggestions()
}

const Chips = lazy(() => import('./chips.js'), 'Chips')

const INPUT = 'add-filter'

// A quick test that needs no lazy module.
const QUERY_LIKE = /filter(?:\[|%5B)|range=|[?&]q=/i

/** Focuses the filter field. */
export const focusBar = (): void => document.getElementById(INPUT)?.focus()

/**
 * Replaces the query by a pasted query. Returns true if the text was a query. Bare filters keep the current range.
 */
function goToPasted(text: string): boolean {
  const pasted = suggestions.value!.parsePasted(text)
  if (pasted === undefined) return false
  const range = formatPageQuery({ where: [], sorts: [], range: query.value.range })
  const hasRange = !pasted.isBare || /^range=|&range=|created_at_/.test(pasted.query)
  goToText(hasRange ? pasted.query : `${range}&${pasted.query}`)
  return true
}

/** Focuses the last chip if the caret is at the start of the field. Returns true if it did. */
function focusLastChip(field: HTMLInputElement): boolean {
  const chips = field.closest('ul')!.querySelectorAll<HTMLElement>('button.chip-body')
  if (field.selectionStart !== 0 || field.selectionEnd !== 0 || chips.length === 0) return false
  ;[...chips].at(-1)!.focus()
  return true
}

/** The state of the filter field and its suggestions. */
function useFilterField(field: { readonly current: HTMLInputElement | null }) {
  const text = useSignal('')
  const isOpen = useSignal(false)
  const isFocused = useSignal(false)
  const active = useSignal(0)
  const options = (isOpen.value && suggestions.value?.suggestionsFor(text.value)) || []

  useEscape(isFocused.value, () => field.current!.blur())
  useEscape(options.length > 0, () => (isOpen.value = false))

  function show(next: string): void {
    text.value = next
    active.value = 0
    isOpen.value = true
    prepare().catch(() => undefined)
  }

  function clear(): void {
    show('')
    isOpen.value = false
  }

  function accept(option: Suggestion): void {
    const rest = suggestions.value!.accept(option)
    if (rest === undefined) clear()
    else show(rest)
  }

  /** Accepts the marked suggestion, which may depend on attributes that are still loading. */
  async function enter(): Promise<void> {
    const typed = text.value
    await prepare()
    await suggestions.value!.suggestionsLoaded()
    const option = suggestions.value!.suggestionsFor(typed)[active.value]
    if (option && text.value === typed) accept(option)
  }

  const step = (by: number): void => {
    if (!isOpen.value) show(text.value)
    else active.value = (active.value + by + options.length) % (options.length || 1)
  }

  const commands: Readonly<Record<string, () => boolean>> = {
    ArrowDown: () => (step(1), true),
    ArrowUp: () => (step(-1), true),
    Enter() {
      // Enter in an empty field must not accept the first suggestion by accident.
      if (isOpen.value && (text.value !== '' || active.value > 0)) enter().catch(() => undefined)
      return true
    },
    Backspace: () => focusLastChip(field.current!),
    ArrowLeft: () => focusLastChip(field.current!),
  }

  const handlers = {
    onInput: (event: TargetedEvent<HTMLInputElement>) => show(event.currentTarget.value),
    onFocus() {
      isFocused.value = true
      show(text.value)
    },
    onBlur() {
      isFocused.value = false
      isOpen.value = false
    },
    onKeyDown(event: KeyboardEvent) {
      if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
      if (commands[event.key]?.()) event.preventDefault()
    },
    onPaste(event: ClipboardEvent) {
      const copied = event.clipboardData?.getData('text') ?? ''
      if (!QUERY_LIKE.test(copied)) return
      event.preventDefault()
      const keepText = (): void => show(copied)
      prepare().then(() => (goToPasted(copied) ? clear() : keepText()), keepText)
    },
  }
  return { text: text.value, options, active: active.value, accept, handlers }
}

/** The filters as chips, and a field to add a filter or to paste a query. */
export function QueryBar() {
  const field = useRef<HTMLInputElement>(null)
  const { text, options, active, accept, handlers } = useFilterField(field)
  const isListed = options.length > 0
  const SuggestionList = suggestions.value?.SuggestionList
  return (
    <search class="query" onClick={(event) => event.target === event.currentTarget && focusBar()}>
      <Icon name="search" />
      <ul class="chips" aria-label={texts.bar.filters}>
        <Chips />
        <li class="grow">
          <input
            ref={field}
            id={INPUT}
            type="text"
            role="combobox"
            aria-label={texts.bar.add}
            aria-expanded={isListed}
            aria-autocomplete="list"
            aria-controls={isListed ? `${INPUT}-options` : undefined}
            aria-activedescendant={isListed ? `${INPUT}-${active}` : undefined}
            placeholder={query.value.where.length < 3 ? texts.bar.placeholder : ''}
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            enterkeyhint="done"
            value={text}
            {...handlers}
          />
        </li>
      </ul>
      <kbd>/</kbd>
      {isListed && SuggestionList && (
        <SuggestionList id={INPUT} options={options} active={active} take={accept} />
      )}
    </search>
  )
}
