/* Predict, train and predict again, without Python: reads pictures and labels, writes scores and losses. */
#include <stdio.h>
#include <stdlib.h>

#include "lenet.h"

enum { BATCH = 16, PIXELS = BATCH * 28 * 28, SCORES = BATCH * 10, STEPS = 3 };

static void must(int ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "%s\n", what);
  exit(1);
}

static void predict(lenet *model, const float *x, FILE *out) {
  float scores[SCORES];
  must(lenet_predict(model, x, scores) == LENET_OK, "predict");
  must(fwrite(scores, sizeof scores, 1, out) == 1, "write scores");
}

int main(int count, char **paths) { /* weights, pictures and labels, results, new weights */
  static float x[PIXELS];
  int32_t labels[BATCH], status = 0;
  must(count == 5, "four paths");
  lenet *model = lenet_open(paths[1], &status);
  must(model != NULL && status == LENET_OK, "open");
  FILE *in = fopen(paths[2], "rb"), *out = fopen(paths[3], "wb");
  must(in && fread(x, sizeof x, 1, in) == 1 && fread(labels, sizeof labels, 1, in) == 1, "read");
  predict(model, x, out);
  for (int step = 0; step < STEPS; step++) {
    float loss;
    must(lenet_train_step(model, x, labels, &loss) == LENET_OK, "train");
    must(fwrite(&loss, sizeof loss, 1, out) == 1, "write loss");
  }
  labels[3] = 10; /* of ten classes: refused, and nothing changes */
  must(lenet_train_step(model, x, labels, x) == LENET_OUT_OF_RANGE, "label 10");
  predict(model, x, out);
  must(lenet_save(model, paths[4]) == LENET_OK && fclose(out) == 0, "save");
  lenet_close(model);
  return 0;
}
