import type { ComponentChild, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { readAccount } from '../data/api.js'
import { useEscape } from './keyboard.js'
import { showNote } from './notes.js'
import { texts } from './texts.js'

type PropsOf<Component> = Component extends (props: infer Props) => unknown
  ? unknown extends Props
    ? object
    : Props
  : never

let isNoted = false

/** Delay before the code of a part is requested again, in milliseconds. */
const RETRY_MS = 5000

/** Says that the code of a part could not be loaded. */
function Failure({ again, close }: { again: () => void; close: () => void }) {
  useEscape(true, close)
  return (
    <section class="part-failed" role="alert">
      <p>{texts.common.reload}</p>
      <button type="button" class="btn main" onClick={again}>
        {texts.states.failed.again}
      </button>
      <button type="button" class="btn" onClick={close}>
        {texts.common.close}
      </button>
    </section>
  )
}

/**
 * The component of a module that is loaded when it is first rendered. Until then, the placeholder is shown. After a
 * failure, the user can try again or `close` the part. A part without `close` is loaded again after some seconds.
 */
export function lazy<
  Name extends string,
  Module extends Readonly<Record<Name, (props: never) => ComponentChild>>,
>(
  load: () => Promise<Module>,
  name: Name,
  close?: () => void,
  instead: ComponentChild = null,
): ComponentType<PropsOf<Module[Name]>> {
  let Loaded: ComponentType<PropsOf<Module[Name]>> | undefined
  return function Lazy(props: PropsOf<Module[Name]>) {
    const [, show] = useState(false)
    const [hasFailed, fail] = useState(false)
    const take = async (): Promise<void> => {
      fail(false)
      try {
        Loaded = (await load())[name] as unknown as ComponentType<PropsOf<Module[Name]>>
        show(true)
      } catch {
        fail(true)
        if (!close && !isNoted) showNote(texts.common.reload)
        isNoted ||= !close
        // The service may take the user for signed out.
        readAccount().catch(() => undefined)
      }
    }
    useEffect(() => {
      if (!Loaded) void take()
    }, [])
    useEffect(() => {
      if (!hasFailed || close) return
      const timer = setTimeout(() => void take(), RETRY_MS)
      return () => clearTimeout(timer)
    }, [hasFailed])
    if (Loaded) return <Loaded {...props} />
    return hasFailed && close ? <Failure again={() => void take()} close={close} /> : <>{instead}</>
  }
}
