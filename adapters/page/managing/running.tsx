import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { ApiError } from '../data/api.js'
import { errorText } from '../list/load-failure.js'
import { useEscape } from '../ui/keyboard.js'
import { texts } from '../ui/texts.js'

/** Runs requests one at a time, and keeps the error of the last request. */
export interface Running {
  readonly isBusy: boolean
  readonly error: Error | undefined
  /**
   * Runs a request, loads the lists again, and then calls the function that the request resolved to. A failed request becomes `error`.
   */
  readonly run: (request: () => Promise<(() => void) | void>) => Promise<void>
}

/** An error in the user's input, with a text for the user. */
export class InputError extends Error {}

/** `refresh` loads the lists again. */
export function useRunningWith(refresh: () => Promise<void>): Running {
  const isBusy = useSignal(false)
  const error = useSignal<Error | undefined>(undefined)
  return {
    isBusy: isBusy.value,
    error: error.value,
    async run(request) {
      if (isBusy.value) return
      isBusy.value = true
      error.value = undefined
      let after: (() => void) | void = undefined
      try {
        after = await request()
      } catch (failure) {
        error.value = failure as Error
      }
      await refresh()
      isBusy.value = false
      after?.()
    },
  }
}

/** Text for the error of a request: the message of the service, or that it did not answer. */
export function ErrorLine({ error }: { error: Error | undefined }) {
  if (!error) return null
  const isOfInput =
    error instanceof InputError ||
    (error instanceof ApiError && error.status < 500 && error.problem !== undefined)
  return (
    <p class="managed-error" role="alert">
      {isOfInput ? error.message : errorText(error)}
    </p>
  )
}

interface ConfirmProps {
  readonly label: string
  readonly question: string
  readonly act: () => void
}

/** A button that asks for confirmation. */
export function ConfirmButton({ label, question, act }: ConfirmProps) {
  const isAsking = useSignal(false)
  const confirm = useRef<HTMLButtonElement>(null)
  const first = useRef<HTMLButtonElement>(null)
  const wasAsking = useRef(false)
  const cancel = (): void => {
    isAsking.value = false
  }
  useEscape(isAsking.value, cancel)
  useEffect(() => {
    if (isAsking.value) confirm.current?.focus()
    else if (wasAsking.current) first.current?.focus()
    wasAsking.current = isAsking.value
  }, [isAsking.value])
  if (!isAsking.value)
    return (
      <button ref={first} type="button" class="btn small" onClick={() => (isAsking.value = true)}>
        {label}
      </button>
    )
  return (
    <span class="confirm" role="group" aria-label={label}>
      <span>{question}</span>
      <button
        ref={confirm}
        type="button"
        class="btn small main"
        aria-description={question}
        onClick={() => {
          cancel()
          act()
        }}
      >
        {label}
      </button>
      <button type="button" class="btn small" onClick={cancel}>
        {texts.common.cancel}
      </button>
    </span>
  )
}
