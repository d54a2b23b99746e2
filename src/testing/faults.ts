import { setTimeout as delay } from 'node:timers/promises'
import { AuditLogError, throwIfAborted } from '../errors.js'
import type { AppendOptions } from '../store/store.js'

export type Fault =
  | { readonly kind: 'fail'; readonly error: unknown }
  | { readonly kind: 'hang' }
  | { readonly kind: 'delay'; readonly milliseconds: number }
  | { readonly kind: 'lose' }

/** The planned faults of a store's methods, and the calls that they apply to. */
export interface Faults<Method extends string> {
  /** Plans the fault for `times` calls of the method, after the faults that are already planned. */
  readonly plan: (method: Method, fault: Fault, times?: number) => void
  /** Calls `act` with the next planned fault of the method, if any, and with options that fit the fault. */
  readonly call: <Result>(
    method: Method,
    options: AppendOptions | undefined,
    act: (given: AppendOptions | undefined) => Promise<Result>,
  ) => Promise<Result>
  /** Removes all faults. Calls that hang or are delayed run at once. */
  readonly heal: () => void
  /** Later calls have no faults. Hanging and delayed calls continue to wait. */
  readonly disable: () => void
  /** Runs hanging and delayed calls at once, also calls that begin to wait later. */
  readonly release: () => void
}

interface PlannedFault {
  readonly fault: Fault
  times: number
}

/** `storeName` is for messages. */
export function createFaults<Method extends string>(storeName: string): Faults<Method> {
  const planned = new Map<Method, PlannedFault[]>()
  /** Aborts at `heal`, which then sets a new controller. */
  let healing = new AbortController()
  let isDisabled = false

  const nextFault = (method: Method): Fault | undefined => {
    const faults = planned.get(method) ?? []
    while (faults[0] && faults[0].times <= 0) faults.shift()
    const [next] = faults
    if (next) next.times--
    return next?.fault
  }

  return {
    plan(method, fault, times = Infinity) {
      const faults = planned.get(method) ?? []
      planned.set(method, [...faults, { fault, times }])
    },
    async call(method, options, act) {
      if (isDisabled || options?.signal?.aborted) return act(options)
      const fault = nextFault(method)
      switch (fault?.kind) {
        case undefined:
          return act(options)
        case 'fail':
          throw failure(storeName, `${method} was made to fail`, fault.error)
        case 'hang':
        case 'delay':
          await waitForHeal(
            healing.signal,
            options,
            fault.kind === 'delay' ? fault.milliseconds : Infinity,
          )
          return act(options)
        case 'lose': {
          // The caller does not get the notice that its drafts are stored, either.
          const result = await act({ ...options, onStored: undefined })
          if (method !== 'append')
            throw failure(storeName, `the acknowledgement of ${method} was lost`)
          await waitForHeal(healing.signal, options).catch(() => {})
          return result
        }
      }
    },
    heal() {
      planned.clear()
      healing.abort()
      healing = new AbortController()
    },
    disable() {
      isDisabled = true
    },
    release() {
      healing.abort()
    },
  }
}

function failure(storeName: string, message: string, cause?: unknown): AuditLogError {
  if (cause instanceof AuditLogError) return cause
  return new AuditLogError('STORE_FAILED', `the ${storeName} store failed: ${message}`, {
    cause: cause ?? new Error(message),
  })
}

/**
 * Resolves when `healed` aborts or after `milliseconds`; rejects with `ABORTED` if the call is aborted
 * first.
 */
async function waitForHeal(
  healed: AbortSignal,
  { signal, deadline = Infinity }: AppendOptions = {},
  milliseconds = Infinity,
): Promise<void> {
  const remaining = Math.max(0, deadline - performance.now())
  // Timers drop fractions of a millisecond and would end before the deadline.
  await wait(
    Math.min(milliseconds, Math.ceil(remaining)),
    AbortSignal.any(signal ? [healed, signal] : [healed]),
  )
  throwIfAborted(signal)
  if (remaining <= milliseconds && !healed.aborted)
    throw new AuditLogError('ABORTED', 'the deadline has passed')
}

// The longest delay of setTimeout.
const MAX_DELAY_MS = 2_147_483_647

/** Resolves after `milliseconds`, or when the signal aborts. */
async function wait(milliseconds: number, signal: AbortSignal): Promise<void> {
  if (milliseconds < MAX_DELAY_MS) {
    await delay(milliseconds, undefined, { signal }).catch(() => {})
    return
  }
  if (signal.aborted) return
  await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }))
}
