import { useSignal } from '@preact/signals'
import { resultOf, type TestResult } from '../data/managing.js'
import { managementTexts as words } from './management-texts.js'
import type { Tab } from './place.js'
import type { Running } from '../managing/running.js'
import { faultText } from './state-text.js'

/** The text of a test's result. */
function testText({ accepted, duration_ms: duration, fault, status }: TestResult): string {
  return words.tested({ accepted, duration }, fault === null ? '' : faultText(fault, status))
}

/** A button that delivers a made-up event, and a line with the result. */
export function useTest(tab: Tab, id: string, { run }: Running) {
  const result = useSignal<string | undefined>(undefined)
  const test = (): void =>
    void run(async () => {
      result.value = words.testing
      try {
        result.value = testText(await resultOf<TestResult>(tab, id, 'test'))
      } catch (error) {
        result.value = undefined
        throw error
      }
    })
  return {
    button: (
      <button type="button" class="btn small" onClick={test}>
        {words.test}
      </button>
    ),
    line: (
      <p class="managed-result" role="status">
        {result.value}
      </p>
    ),
  }
}
