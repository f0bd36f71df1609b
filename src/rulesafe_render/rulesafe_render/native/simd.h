// Short vectors of floats and integers, with compiler extensions instead of intrinsics: the same
// source serves all instruction sets, and each lane computes the same bits on all of them.
#pragma once

#include <cstdint>
#include <cstring>

constexpr int LANES = RENDER_LANES;

using Floats = float __attribute__((vector_size(4 * LANES)));
using Ints = int32_t __attribute__((vector_size(4 * LANES)));
using Floats4 = float __attribute__((vector_size(16)));
using Ints4 = int32_t __attribute__((vector_size(16)));

#define INLINE inline __attribute__((always_inline))

INLINE Floats all(float value) { return value - Floats{}; }
INLINE Floats load(const float* from) {
    Floats value;
    std::memcpy(&value, from, sizeof value);
    return value;
}
INLINE void store(float* to, Floats value) { std::memcpy(to, &value, sizeof value); }
INLINE Floats choose(Ints mask, Floats yes, Floats no) {
    return (Floats)(((Ints)yes & mask) | ((Ints)no & ~mask));
}
INLINE Floats least(Floats a, Floats b) { return a < b ? a : b; }
INLINE Floats greatest(Floats a, Floats b) { return a > b ? a : b; }
INLINE Floats clamp(Floats x, float low, float high) { return least(greatest(x, all(low)), all(high)); }
INLINE Ints to_ints(Floats x) { return __builtin_convertvector(x, Ints); }
INLINE Floats to_floats(Ints x) { return __builtin_convertvector(x, Floats); }

// The largest integer that is not above x, for |x| < 2^31.
INLINE Floats floor_of(Floats x) {
    Floats whole = to_floats(to_ints(x));
    return whole - choose(whole > x, all(1), all(0));
}

INLINE bool any(Ints mask) {
    int64_t halves[LANES / 2], joined = 0;
    std::memcpy(halves, &mask, sizeof mask);
    for (int64_t half : halves) joined |= half;
    return joined != 0;
}

INLINE Floats gather(const float* from, Ints index) {
    Floats value;
    for (int i = 0; i < LANES; ++i) value[i] = from[index[i]];
    return value;
}

// 1 / sqrt(x) for x > 0 by Newton's method; relative error 2e-3 after one step, 5e-6 after two.
INLINE Floats rough_inverse_root(Floats x) {
    Floats y = (Floats)(0x5f375a86 - ((Ints)x >> 1));
    return y * (1.5f - 0.5f * x * y * y);
}
INLINE Floats inverse_root(Floats x) {
    Floats y = rough_inverse_root(x);
    return y * (1.5f - 0.5f * x * y * y);
}

// 2^x for x <= 0, relative error 3e-6: a polynomial for the fraction, the exponent for the rest.
INLINE Floats power_of_two(Floats x) {
    x = greatest(x, all(-60));
    Floats whole = floor_of(x), f = x - whole;
    Floats p = 1 + f * (0.6931472f + f * (0.2402265f + f * (0.0555041f + f * (0.0096181f + f * 0.0013333f))));
    return p * (Floats)((to_ints(whole) + 127) << 23);
}

struct Vectors {
    Floats x, y, z;
};

INLINE Floats dot(Vectors a, Vectors b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
INLINE Vectors operator*(Vectors a, Floats s) { return {a.x * s, a.y * s, a.z * s}; }
INLINE Vectors operator*(Vectors a, Vectors b) { return {a.x * b.x, a.y * b.y, a.z * b.z}; }
INLINE Vectors operator+(Vectors a, Vectors b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
INLINE Vectors operator-(Vectors a, Vectors b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
INLINE Vectors operator-(Vectors a) { return {-a.x, -a.y, -a.z}; }
INLINE Vectors all_three(const float* v) { return {all(v[0]), all(v[1]), all(v[2])}; }
INLINE Vectors choose(Ints mask, Vectors yes, Vectors no) {
    return {choose(mask, yes.x, no.x), choose(mask, yes.y, no.y), choose(mask, yes.z, no.z)};
}
INLINE Vectors unit(Vectors v) { return v * inverse_root(dot(v, v)); }
