import { formatNumber } from '../data/format.js'
import { texts } from '../ui/texts.js'

/** The texts of the export, which is loaded on demand. */
export const exportTexts = {
  title: 'Export',
  heading: (events: string) => `Export ${events}`,
  format: 'Format',
  what: {
    ndjson:
      'Every event of this query, oldest first, with all attributes. One JSON object per line.',
    csv: 'Every event of this query, oldest first, with all attributes. Cells that a spreadsheet would run as a formula start with a single quote.',
  },
  states: {
    running: 'Writing',
    done: 'Written',
    stopped: 'Stopped',
    lost: 'Cut off',
    full: 'No space left',
    refused: 'Refused',
  },
  /** Shown when the export ends, even after the sheet is closed. */
  ended: {
    done: (count: number) => `${texts.common.events(count)} exported`,
    stopped: (count: number) => `Export stopped after ${texts.common.events(count)}`,
    lost: (count: number) => `Connection lost: export cut after ${texts.common.events(count)}`,
    full: (count: number) => `No space left: export cut after ${texts.common.events(count)}`,
    refused: () => 'The service refused the export',
  },
  of: (count: number, total: number, isExact: boolean) =>
    `${formatNumber(count)} of ${isExact ? formatNumber(total) : texts.common.atLeast(formatNumber(Math.max(count, total)))}`,
  goesOn: 'Continues if you change the filters',
  start: (format: string) => `Export ${format}`,
  stop: 'Stop',
  copyCurl: 'Copy curl',
}
