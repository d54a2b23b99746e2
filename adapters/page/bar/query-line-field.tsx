import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { search } from '../data/address.js'
import { useEscape } from '../ui/keyboard.js'
import { filterableAttributes, loadFilterOptions } from '../data/filter-options.js'
import { texts } from '../ui/texts.js'
import { isEditing } from '../ui/query-commands.js'
import { parsePasted } from './pasted-query.js'
import { completeLine } from './query-line-completion.js'
import { readableQuery } from '../data/query-tokens.js'

const ID = 'query-line'

interface CompletionsProps {
  readonly options: readonly string[]
  /** The index of the marked option; -1 for none. */
  readonly active: number
  readonly accept: (option: string) => void
}

function Completions({ options, active, accept }: CompletionsProps) {
  return (
    <ul class="dropdown" id={`${ID}-options`} role="listbox" aria-label={texts.line.completions}>
      {options.map((option, index) => (
        <li
          key={option}
          id={`${ID}-${index}`}
          class="mono"
          role="option"
          aria-selected={index === active}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => accept(option)}
        >
          {option}
        </li>
      ))}
    </ul>
  )
}

/** The query line as a text field. Enter applies, Escape restores. */
export function QueryLineField({ apply }: { apply: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null)
  const text = useSignal(readableQuery(search.value))
  const caret = useSignal(-1)
  const active = useSignal(-1)
  const completion =
    caret.value < 0 ? undefined : completeLine(text.value, caret.value, filterableAttributes.value)

  useEffect(() => {
    field.current!.focus()
    loadFilterOptions()
  }, [])
  useEscape(true, () => (isEditing.value = false))
  useEscape(completion !== undefined, () => (caret.value = -1))

  function complete(option: string): void {
    const { from, to } = completion!
    const head = text.value.slice(0, from) + option
    text.value = head + text.value.slice(to)
    caret.value = head.length
    active.value = -1
    const input = field.current!
    input.value = text.value
    input.setSelectionRange(head.length, head.length)
  }

  function onKeyDown(event: KeyboardEvent): void {
    const count = completion?.options.length ?? 0
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step !== undefined && count > 0) {
      // The options form a cycle with "none" (-1) before the first.
      active.value = ((active.value + 1 + step + count + 1) % (count + 1)) - 1
    } else if (event.key === 'Enter' && !event.isComposing) {
      const option = completion?.options[active.value]
      if (option !== undefined) complete(option)
      else apply(parsePasted(text.value)?.query ?? text.value.trim())
    } else return
    event.preventDefault()
  }

  return (
    <span class="line-field">
      <input
        ref={field}
        class="mono"
        type="text"
        role="combobox"
        aria-label={texts.line.query}
        aria-expanded={completion !== undefined}
        aria-autocomplete="list"
        aria-controls={completion && `${ID}-options`}
        aria-activedescendant={
          completion && active.value >= 0 ? `${ID}-${active.value}` : undefined
        }
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        enterkeyhint="go"
        value={text.value}
        onInput={({ currentTarget: { value, selectionStart } }) => {
          text.value = value
          caret.value = selectionStart ?? value.length
          active.value = -1
        }}
        onBlur={() => (caret.value = -1)}
        onKeyDown={onKeyDown}
      />
      {completion && (
        <Completions options={completion.options} active={active.value} accept={complete} />
      )}
    </span>
  )
}
