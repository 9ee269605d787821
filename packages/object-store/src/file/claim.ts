import { randomBytes } from "node:crypto";
import { link, mkdir, readdir, rename, rmdir, symlink, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { failedWith } from "./file-failure.ts";
import { statObject } from "./file-root.ts";
import { claimedEtag, claimName } from "./segment-names.ts";

/**
 * Moves the file at `path` into a new claim on its version `etag`: a directory beside it. Where the
 * file, its directory or the claim went away meanwhile, or a directory took the file's place, the
 * claim stays without a file.
 *
 * @returns the claim's path
 */
export async function makeClaim(path: string, etag: string): Promise<string> {
  const claim = newClaim(dirname(path), etag);
  const claimed = join(claim, basename(path));
  await tolerating(["ENOENT", "ENOTDIR"], async () => {
    await mkdir(claim);
    // A rename onto a name that is no directory refuses to move one: keys under `path` stay.
    await symlink("claimed", claimed);
    await rename(path, claimed);
  });
  return claim;
}

/** What was done with a claim; `nothing` where there was no file in it, or it is another's now. */
export type ClaimOutcome = "deleted" | "put back" | "nothing";

/**
 * Settles a claim that was met, which a killed process may have left. It is renamed first: where its
 * maker is still about to move a file into it, that move fails and the maker looks again, so that
 * nothing gets in unseen between the look and the unlink.
 */
export async function takeOverClaim(claim: string): Promise<ClaimOutcome> {
  const taken = newClaim(dirname(claim), claimedEtag(basename(claim)));
  try {
    await rename(claim, taken);
  } catch (error) {
    if (failedWith(error, "ENOENT", "ENOTDIR")) return "nothing";
    throw error;
  }
  return settleClaim(taken);
}

/**
 * Finishes a claim of one's own: deletes the claimed file if it is the version that the claim is
 * about, else puts it back, unless a newer one took its place.
 */
export async function settleClaim(claim: string): Promise<ClaimOutcome> {
  const etag = claimedEtag(basename(claim));
  let outcome: ClaimOutcome = "nothing";
  for (const name of await namesIn(claim)) {
    const claimed = join(claim, name);
    const found = await statObject(claimed, name);
    if (found?.etag === etag) {
      outcome = "deleted";
    } else if (found !== null) {
      outcome = "put back";
      await tolerating(["EEXIST", "ENOENT"], () => link(claimed, join(dirname(claim), name)));
    }
    await tolerating(["ENOENT"], () => unlink(claimed));
  }
  await tolerating(["ENOENT", "ENOTEMPTY", "EEXIST"], () => rmdir(claim));
  return outcome;
}

function newClaim(directory: string, etag: string): string {
  return join(directory, claimName(etag, randomBytes(4).toString("hex")));
}

async function namesIn(claim: string): Promise<readonly string[]> {
  try {
    return await readdir(claim);
  } catch (error) {
    if (failedWith(error, "ENOENT", "ENOTDIR")) return [];
    throw error;
  }
}

async function tolerating(codes: readonly string[], work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!failedWith(error, ...codes)) throw error;
  }
}
