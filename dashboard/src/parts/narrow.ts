import { useSyncExternalStore } from "react"

const phone = matchMedia("(max-width: 700px)")

/** True on a phone, and in a window as narrow as one. */
export function useNarrow(): boolean {
  return useSyncExternalStore(
    listener => {
      phone.addEventListener("change", listener)
      return () => phone.removeEventListener("change", listener)
    },
    () => phone.matches,
  )
}
