import { defaultDriver } from '../../../adapters/sqlite/connection/driver.js'

/** A part of the driver's lock error that identifies it. */
export const BUSY = defaultDriver() === 'node:sqlite' ? { errcode: 5 } : { code: 'SQLITE_BUSY' }
