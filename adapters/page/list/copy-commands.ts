import { showNote } from '../ui/notes.js'
import { texts } from '../ui/texts.js'

/** Runs a command whose code is loaded on first use. */
const run = async (name: 'copyLink' | 'copyCurl'): Promise<void> => {
  try {
    await (await import('./copying.js'))[name]()
  } catch {
    showNote(texts.common.reload)
  }
}

/** Copies an address of the shown list, with the open event. */
export const copyLink = (): Promise<void> => run('copyLink')

/** Copies the API call as a curl command with absolute times. Does nothing for an invalid query. */
export const copyCurl = (): Promise<void> => run('copyCurl')
