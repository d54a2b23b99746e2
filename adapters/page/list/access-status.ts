import { computed } from '@preact/signals'
import { ApiError, isSignedOut } from '../data/api.js'
import { failure } from './loading.js'

/** 401 if the user is not signed in, 403 if they may not read the log, else `undefined`. */
export const deniedStatus = computed(() => {
  if (isSignedOut.value) return 401
  const { value: error } = failure
  return error instanceof ApiError && error.status === 403 ? error.status : undefined
})
